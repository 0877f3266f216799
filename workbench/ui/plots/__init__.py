"""What plots are made of: axes, maps, strips, labels, and how they are painted on a screen or into a picture."""

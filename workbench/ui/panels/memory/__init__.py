"""Memory: the bytes that a launch asks for, beside the fewest that must move."""

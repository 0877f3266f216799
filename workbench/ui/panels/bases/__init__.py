"""What panels have in common: a panel that draws on the window's timer, one of plots, of a map, of ceilings."""

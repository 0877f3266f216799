"""Whether an output is right: against float64, again after timing, and the states of the traced launch."""

"""PANELS: the views of a run, in the order of the View menu."""

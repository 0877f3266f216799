"""A request in words, both ways: the options of the command line, what they ask for, the line that repeats a run."""

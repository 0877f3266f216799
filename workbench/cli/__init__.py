"""The one way into the program: the command line's grammar, its commands, and the root that opens the window.

What people or scripts read on stdout and stderr is written here, and exit statuses are decided.
"""

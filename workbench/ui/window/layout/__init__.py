"""Where things stand in the window: docks and their shares of it, workspaces, and how the keyboard goes round them.

What belongs here knows docks and panels' names, and nothing of runs.
"""

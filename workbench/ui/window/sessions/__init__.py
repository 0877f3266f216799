"""The files that a window lives with: the session that it goes on with, recordings beside it, and where one stopped."""

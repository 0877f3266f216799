"""What the window does with files: dialogs, recordings and sessions, pictures."""

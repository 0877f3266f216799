"""The table of runs: its columns, what each cell says, and the order of rows."""

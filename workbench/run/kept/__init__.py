"""What a session file keeps beside its runs, and how its list of runs is read without reading them all.

Nothing here opens a file: a session hands its open connection over.
"""

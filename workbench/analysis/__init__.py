"""What may be asked of a run, and what follows from its result: limits, metrics, floors, estimates, caveats.

Plain functions of requests and records; nothing here measures, and nothing shows.
"""

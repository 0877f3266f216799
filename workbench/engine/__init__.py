"""The measuring side: a process that runs kernels, and what it does there. No Qt; torch and triton in the child alone.

It measures and tells by events; what follows from a result, and how it is said, belongs to other rooms.
"""

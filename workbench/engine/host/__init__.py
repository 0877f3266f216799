"""The process that measures, as its owner sees it: starting, feeding, stopping and replacing it.

What runs inside it, the job, is named by its import path alone and never imported here.
"""

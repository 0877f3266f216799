"""What the kernels share: what a variant is, the checks of its inputs, the online softmax, dot precisions.

Of one kernel alone nothing belongs here.
"""

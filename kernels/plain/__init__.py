"""What can be known of tiles and kernels without torch and Triton, so that the window can know it too.

A kernel's spec, tiles and their launch options, precisions, how keys are split, the bytes that a launch asks for.
"""

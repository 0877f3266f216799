"""What can be known of tiles and kernels without torch and Triton, so that the window can know it too.

Tiles, the spaces worth trying, how keys are split, the bytes that a launch asks for.
"""

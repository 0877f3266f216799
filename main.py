"""Tilescope: `python main.py` opens the window, `python main.py --help` lists what works without one.

The engine's child process imports this file again, so everything heavy is imported inside main().
"""

import sys


def main() -> int:
    """Run the command line; the exit status is described in its help."""
    from workbench.cli import run_command_line

    return run_command_line(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())

"""Tilescope: `python main.py` opens the window, `python main.py --help` lists what works without one.

The engine's child process imports this file again, so everything heavy is imported inside main().
"""

from workbench.cli.start import main

if __name__ == "__main__":
    raise SystemExit(main())

"""The window as a whole: its commands, docks and bars, which run is shown, and how runs are started."""

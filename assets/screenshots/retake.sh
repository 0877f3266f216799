#!/bin/sh
# Makes every picture of README.md anew from the recordings; needs neither a GPU nor a display.
# PYTHON is the one of .venv unless it is given.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
export QT_QPA_PLATFORM=offscreen

take() { # NAME, and options of `screenshot`
    name=$1
    shift
    "$python" main.py screenshot "assets/screenshots/$name.png" --scale 1.5 "$@"
    echo "$name.png"
}

# The fastest tile of 1024 x 4096 x 128, which the tour is about.
shapes="--session assets/recordings/h200-article-shapes.tilescope --run 13"
take window-h200-dark $shapes --size 1440x900
take runs-h200-dark $shapes --size 1440x900 --panel results
take compare-h200-dark $shapes --size 1440x900 --panel compare --compare 13,12
take latency-h200-dark $shapes --size 1440x900 --panel latency
take error-h200-dark $shapes --size 1440x900 --panel error
take softmax-h200-dark $shapes --size 1440x900 --panel softmax
take memory-h200-dark $shapes --size 1440x900 --panel memory

"""What is wrong with what was asked for in words, in one line."""

from __future__ import annotations


class UsageError(Exception):
    """The command line cannot work; the text is one line that names the value and what is allowed."""

"""Progress on standard error, so that standard output has the figures only."""

import sys


def report(text: str) -> None:
    """Write one line of progress."""
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()

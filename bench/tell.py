"""Progress, on standard error: standard output holds the figures alone."""

import sys


def tell(text: str) -> None:
    """One line."""
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()

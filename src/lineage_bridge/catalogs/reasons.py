"""Codes for the reasons why publishing fails, for use by programs. Pure."""

from typing import Final

from lineage_bridge.errors import (
    BusyError,
    ConfigError,
    ForbiddenError,
    MissingError,
    SourceError,
    StoppedError,
    StoreError,
    StoreMissingError,
    StoreUnreachableError,
    TimedOutError,
    UnauthenticatedError,
    UnreachableError,
)

STOPPED: Final = "stopped"
"""The code of a publication that was cancelled because its target was paused, or the server stops."""
_CODES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (StoppedError, STOPPED),
    (UnauthenticatedError, "unauthenticated"),
    (ForbiddenError, "forbidden"),
    (TimedOutError, "timed_out"),
    (UnreachableError, "unreachable"),
    (BusyError, "busy"),
    (MissingError, "missing_there"),
    (SourceError, "wrong_answer"),
    (ConfigError, "bad_setting"),
    (StoreMissingError, "no_graph_yet"),
    (StoreUnreachableError, "store_unreachable"),
    (StoreError, "store_failed"),
)
"""The code of each class of errors; the first class that matches counts."""
ANSWERED: Final = "failed_there"
"""The code for an object that the target answered with an error that may pass."""


def reason_code(error: Exception) -> str:
    """The code of an error: one of those in `docs/catalogs.md`."""
    if isinstance(error, BusyError) and error.limited:
        return "rate_limited"
    return next((code for kind, code in _CODES if isinstance(error, kind)), "internal_error")

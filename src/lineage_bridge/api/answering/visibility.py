"""What the principal who asks the current question may see (its visibility). If that is not known, the question sees nothing."""

from contextvars import ContextVar
from typing import Final

from lineage_bridge.model.access import NOWHERE, Visibility

CURRENT_VISIBILITY: Final[ContextVar[Visibility | None]] = ContextVar("visibility", default=NOWHERE)
"""None: everything."""

"""The visibility of the current question: what of the graph its principal may see. Without a known visibility, the question sees
nothing.
"""

from contextvars import ContextVar
from typing import Final

from lineage_bridge.model.access import NOWHERE, Visibility

CURRENT_VISIBILITY: Final[ContextVar[Visibility | None]] = ContextVar("visibility", default=NOWHERE)
"""None: everything."""

"""What whoever asks the present question sees of the graph. A question of which that is not known sees nothing."""

from contextvars import ContextVar
from typing import Final

from lineage_bridge.model.access import NOWHERE, Visibility

CURRENT_VISIBILITY: Final[ContextVar[Visibility | None]] = ContextVar("visibility", default=NOWHERE)
"""None: everything."""

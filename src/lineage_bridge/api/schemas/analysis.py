"""The shape of an analysis in answers."""

from msgspec import Raw, Struct


class AnalysisPage(Struct, frozen=True):
    """A page of one part of the last analysis, and what that was: counts of all parts, when it was made, of which position.

    Unless `exact`, counts of what lies down- and upstream are estimates.
    """

    part: str
    items: list[Raw]
    counts: dict[str, int]
    nodes: int
    flows: int
    exact: bool
    unused_days: int
    made_at: str
    position: str

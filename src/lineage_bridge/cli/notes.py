"""Prints notes below an answer that may be incomplete, with the option that shows the rest."""

from typing import Final

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.console import format_count, print_message

_SERVER_LIMITS: Final = {"nodes": "number of datasets", "edges": "number of flows", "time": "time", "origins": "number of origins"}
"""The limits of the server at which a walk ends. No option of a command raises them."""


def print_next_page(*, exists: bool, limit: int, offset: int = 0) -> None:
    """Print that a list has more items, and which options show them."""
    if exists:
        print_message(f"there are more results; continue with --offset {offset + limit}, or raise --limit")


def print_higher_limit(things: str, *, exists: bool) -> None:
    """Print that an answer without pages has more items."""
    if exists:
        print_message(f"there are more {things}; a higher --limit shows them")


def print_depth(distances: list[int | None], depth: int) -> None:
    """Print that a walk ended at the requested depth, if it did."""
    if depth and any(distance is not None and distance >= depth for distance in distances):
        print_message(f"stopped after {format_count(depth, 'hop')}; a higher --depth shows what is further away, if anything")


def print_truncated(answer: Json, *, done: str = "shown", followed: str = "flows") -> None:
    """Print that a walk ended at a limit of the server, and how to see the rest."""
    if limit := answer["truncated"]:
        narrower = "use a lower --depth, or ask again, starting from a node further along"
        if limit == "origins":
            narrower = "ask about fewer namespaces, or with --kind"
        hidden = f"; {answer['hidden']} {followed} were not followed" if answer.get("hidden") else ""
        print_message(f"not everything is {done}: the server's limit on {_SERVER_LIMITS.get(limit, limit)} was reached{hidden}; {narrower}")


def print_hidden_ended(answer: Json, *, hint: str) -> None:
    """Print how many flows are left out because they have ended, and what to do to see them."""
    if hidden := answer.get("hidden_ended", 0):
        print_message(f"{format_count(hidden, 'ended flow')} hidden; {hint}")


def print_settling(answer: Json) -> None:
    """Print that an answer is not final yet, if that is so."""
    if answer["settling"]:
        print_message("the graph is still settling: not all flows are computed yet, so ask again for the final answer")

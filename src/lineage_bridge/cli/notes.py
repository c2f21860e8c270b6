"""Notes below an answer: in what way it may be incomplete."""

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.console import format_count, print_message


def print_hidden_ended(answer: Json, *, hint: str) -> None:
    """Say how many flows are left out because they have ended, and what to do to see them."""
    if hidden := answer.get("hidden_ended", 0):
        print_message(f"{format_count(hidden, 'ended flow')} hidden; {hint}")


def print_settling(answer: Json) -> None:
    """Say that an answer is not final yet, if it is not."""
    if answer["settling"]:
        print_message("the graph is still settling: not all flows are computed yet, so ask again for the final answer")

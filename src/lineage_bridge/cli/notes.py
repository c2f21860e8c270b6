"""Notes below an answer: in what way it may be incomplete."""

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.console import print_message


def print_settling(answer: Json) -> None:
    """Say that an answer is not final yet, if it is not."""
    if answer["settling"]:
        print_message("the graph is still settling: not all flows are computed yet, so ask again for the final answer")

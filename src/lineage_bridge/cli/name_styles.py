"""`--names`: how the names of an answer are spelt."""

from typing import Final

import click

from lineage_bridge.cli.client import Json

STYLES: Final = ("standard", "lineagebridge")
with_names = click.option(
    "--names",
    "style",
    type=click.Choice(STYLES),
    default=STYLES[0],
    show_default=True,
    help="how names are spelt: as the specification does, or LineageBridge",
)
"""Give a command the option `--names`, as `style`."""


def spelt(said: Json) -> Json:
    """An answer whose nodes have the names they go by, where it tells of any, in place of those that producers wrote."""
    if isinstance(said, list):
        return [spelt(item) for item in said]
    if isinstance(said, dict):
        return {key: spelt(value) for key, value in said.items()} | said.get("goes_by", {})
    return said

"""The option `--names`, which selects the style of names in an answer."""

from typing import Final

import click

from lineage_bridge.cli.client import Json

STYLES: Final = ("standard", "lineagebridge")
names_option = click.option(
    "--names",
    "style",
    type=click.Choice(STYLES),
    default=STYLES[0],
    show_default=True,
    help="style of names: OpenLineage's naming rules, or LineageBridge's own",
)
"""Give a command the option `--names`, as `style`."""


def use_preferred_names(answer: Json) -> Json:
    """Replace, in an answer, the name of each node by its preferred name (`goes_by`), if it has one."""
    if isinstance(answer, list):
        return [use_preferred_names(item) for item in answer]
    if isinstance(answer, dict):
        return {key: use_preferred_names(value) for key, value in answer.items()} | answer.get("goes_by", {})
    return answer

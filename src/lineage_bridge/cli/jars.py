"""`jars`: fetch the Java archives that inputs of the form `stream` need."""

import os

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line
from lineage_bridge.cli.options import with_output
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for


@click.command(cls=Command, examples=("jars",))
@with_output("print their paths as JSON")
def jars(as_json: bool) -> None:
    """Fetch what Spark needs to read Kafka into your cache.

    Inputs of the form stream need these Java archives: Spark's own reader of Kafka and what it needs. Their bytes are compared with what is
    pinned here. Nothing is fetched that is there already. A mirror of Maven Central is named in LINEAGE_BRIDGE_IVY_SETTINGS, a settings
    file of Ivy's.
    """
    paths = fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    if as_json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print_line(str(path))

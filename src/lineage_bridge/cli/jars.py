"""The command `jars`: fetches the Java archives that inputs of the form `stream` need."""

import os

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_json, print_line
from lineage_bridge.cli.options import with_output
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for


@click.command(cls=Command, examples=("jars",))
@with_output("print their paths as JSON")
def jars(as_json: bool) -> None:
    """Fetch the Java archives with which Spark reads Kafka.

    Inputs of the form stream need these archives: Spark's Kafka source and its dependencies. They are kept in your cache folder, and each
    is checked against a pinned digest. Archives that are there already are not fetched again. To use a mirror of Maven Central, name an Ivy
    settings file in LINEAGE_BRIDGE_IVY_SETTINGS.
    """
    paths = fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    if as_json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print_line(str(path))

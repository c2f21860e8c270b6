"""Functions for commands that run a process of the server: `serve`, and the commands that it starts."""

import os

import click

from lineage_bridge.cli.console import print_message
from lineage_bridge.config import API_KEY, Settings
from lineage_bridge.wiring.processes import configure_telemetry, end_with_parent

ATTACHED = click.option("--attached", is_flag=True, hidden=True, help="stop when standard input is closed")


def begin(settings: Settings, program: str, *, attached: bool = False) -> None:
    """Set up this process: it logs under the name of the program, and makes the data folder readable for its owner only. If `attached`, the
    process ends when standard input is closed.
    """
    configure_telemetry(settings, program)
    settings.paths.protect()
    if attached:
        end_with_parent()


def explain_variable() -> None:
    """Warn that an environment variable has changed its meaning since the LineageBridge prototype: it contains the key that commands send,
    no longer the key of the server itself.
    """
    if os.environ.get(API_KEY):
        print_message(f"{API_KEY} is the key that commands send to a server, not a key of this server: see lineage-bridge key --help")

"""The command `serve`: starts the processes of the server, each of which is a command of its own, and keeps them running."""

import sys
import threading
from pathlib import Path

import click

from lineage_bridge.cli.banner import StartupBanner, program_name
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import CONNECTIONS, LOG, QUESTIONS, SERVER, SPARK, with_settings
from lineage_bridge.cli.process import begin, explain_variable
from lineage_bridge.config import Settings
from lineage_bridge.config.tls import server_certificate
from lineage_bridge.supervisor import serve as supervise
from lineage_bridge.wiring.access import check_reachable
from lineage_bridge.wiring.inputs import input_service, intake_settings
from lineage_bridge.wiring.sources import source_service


@click.command(cls=Command, examples=("serve --port 8001 --data-dir ./lineage-data",))
@click.option("--demo", is_flag=True, help="load the demo pipeline if the data folder is empty; its streams report every half hour")
@with_settings(*SERVER, *CONNECTIONS, *QUESTIONS, *SPARK, *LOG, "stop_timeout_s")
def serve(settings: Settings, demo: bool) -> None:
    """Run LineageBridge: API, pipeline, sources, inputs, targets.

    A process that dies is restarted. Runs until Ctrl+C.

    Events are accepted at once; answers contain them as soon as Spark has started.
    """
    begin(settings, "serve")
    check_reachable(settings)
    server_certificate(settings)
    explain_variable()
    source_service(settings)
    input_service(settings)
    intake_settings(settings)
    program = program_name(sys.argv[0], Path.cwd())

    def print_messages(settings: Settings, stop: threading.Event, empty: bool) -> None:  # `supervise` calls it with these arguments
        StartupBanner(settings, program, stop).run(demo=demo, empty=empty)

    supervise(settings, print_messages)

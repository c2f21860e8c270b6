"""`serve`, and the processes it starts: `api`, `pipeline`, `observe`, `inputs` and `publisher`."""

import os
import socket
import sys
import threading
from pathlib import Path

import click

from lineage_bridge.cli.banner import StartupBanner, program_name
from lineage_bridge.cli.command import Command
from lineage_bridge.cli.console import print_message
from lineage_bridge.cli.options import CLIENT, CONNECTIONS, FOLDER, LOG, QUESTIONS, SERVER, SPARK, with_settings
from lineage_bridge.config import API_KEY, Settings
from lineage_bridge.config.tls import server_certificate
from lineage_bridge.supervisor import answering
from lineage_bridge.supervisor import serve as supervise
from lineage_bridge.wiring.access import check_reachable
from lineage_bridge.wiring.api import listen, serve_api
from lineage_bridge.wiring.inputs import input_service, intake_settings, run_inputs
from lineage_bridge.wiring.pipeline import run_pipeline
from lineage_bridge.wiring.processes import configure_logging, end_with_parent
from lineage_bridge.wiring.sources import run_sources, source_service
from lineage_bridge.wiring.targets.continuous import run_publisher

_attached = click.option("--attached", is_flag=True, hidden=True, help="stop when standard input is closed")


@click.command(cls=Command, examples=("serve --port 8001 --data-dir ./lineage-data",))
@click.option("--demo", is_flag=True, help="load the demo pipeline if the data folder is empty")
@with_settings(*SERVER, *CONNECTIONS, *QUESTIONS, *SPARK, *LOG, "stop_timeout_s")
def serve(settings: Settings, demo: bool) -> None:
    """Run LineageBridge: API, pipeline, sources, inputs, targets.

    A process that dies is restarted. Runs until Ctrl+C.

    Events are accepted at once; answers contain them as soon as Spark has started.
    """
    configure_logging(settings, "serve")
    settings.paths.protect()
    check_reachable(settings)
    server_certificate(settings)
    _explain_variable()
    source_service(settings)
    input_service(settings)
    intake_settings(settings)
    program = program_name(sys.argv[0], Path.cwd())

    def print_messages(settings: Settings, stop: threading.Event, empty: bool) -> None:  # the supervisor's signature
        StartupBanner(settings, program, stop).run(load_demo=demo and empty)

    supervise(settings, print_messages)


@click.command(cls=Command, examples=("api --port 8001",))
@click.option("--fd", type=int, hidden=True, help="file descriptor of a listening socket")
@_attached
@with_settings(*SERVER, *CONNECTIONS, *QUESTIONS, *LOG)
def api(settings: Settings, fd: int | None, attached: bool) -> None:
    """Run only the API, which accepts events and answers questions.

    Answers contain new events once `pipeline` has processed them.
    """
    configure_logging(settings, "api")
    settings.paths.protect()
    if fd is None:
        check_reachable(settings)
        _explain_variable()
    if attached:
        end_with_parent()
    with listen(settings) if fd is None else socket.socket(fileno=fd) as listener, answering(settings) as questions:
        serve_api(settings, listener, questions=questions)


@click.command(cls=Command, examples=("pipeline --spark-memory 4g",))
@_attached
@with_settings(*FOLDER, *SPARK)
def pipeline(settings: Settings, attached: bool) -> None:
    """Run only the pipeline, on Spark.

    It folds the events of the log into the graph.
    """
    configure_logging(settings, "pipeline")
    settings.paths.protect()
    if attached:
        end_with_parent()
    run_pipeline(settings)


@click.command(cls=Command, examples=("observe --config lineage-bridge.toml",))
@_attached
@with_settings(*CLIENT, *FOLDER)
def observe(settings: Settings, attached: bool) -> None:
    """Run only the polling of sources.

    Sends the events of the sources to the server.
    """
    configure_logging(settings, "observe")
    settings.paths.protect()
    if attached:
        end_with_parent()
    run_sources(settings)


@click.command(cls=Command, examples=("inputs --config lineage-bridge.toml",))
@_attached
@with_settings(*SERVER)
def inputs(settings: Settings, attached: bool) -> None:
    """Run only the reading of inputs.

    Reads events from inputs, and sends them to the API on the same data folder.
    """
    configure_logging(settings, "inputs")
    settings.paths.protect()
    if attached:
        end_with_parent()
    run_inputs(settings)


@click.command(cls=Command, examples=("publisher --config lineage-bridge.toml",))
@_attached
@with_settings(*FOLDER)
def publisher(settings: Settings, attached: bool) -> None:
    """Run only the continuous publishing.

    Publishes changes of the graph to the targets with publish=continuous.
    """
    configure_logging(settings, "publisher")
    settings.paths.protect()
    if attached:
        end_with_parent()
    run_publisher(settings)


def _explain_variable() -> None:
    """Explain LINEAGE_BRIDGE_API_KEY to users who set it for the server: it is the key that commands send."""
    if os.environ.get(API_KEY):
        print_message(f"{API_KEY} is the key that commands send to a server, not a key of this one: see lineage-bridge key --help")

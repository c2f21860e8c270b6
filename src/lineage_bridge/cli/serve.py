"""`serve`, and the parts it starts: `api` and `pipeline`."""

import socket
import sys
import threading
from pathlib import Path

import click

from lineage_bridge.cli.greeting import Greeting, called_as
from lineage_bridge.cli.options import FOLDER, LOG, SERVER, SPARK, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.supervisor import serve as supervise
from lineage_bridge.wiring import end_with_parent, listen, run_pipeline, serve_api, tell_logs

_attached = click.option("--attached", is_flag=True, hidden=True, help="end when standard input ends")


@click.command()
@click.option("--demo", is_flag=True, help="load the demo if the data folder is empty")
@with_settings(*SERVER, *SPARK, *LOG)
def serve(settings: Settings, demo: bool) -> None:
    r"""Run LineageBridge: the API and the pipeline, each started again when it dies.

    Runs until Ctrl+C. Events are accepted from the first second on; answers follow when Spark has started.

    \b
    Example: lineage-bridge serve --port 8001 --data-dir ./lineage-data
    """
    tell_logs(settings, "serve")
    program = called_as(sys.argv[0], Path.cwd())

    def greet(settings: Settings, stop: threading.Event, empty: bool) -> None:  # the supervisor's signature
        Greeting(settings, program, stop).run(load_demo=demo and empty)

    supervise(settings, greet)


@click.command()
@click.option("--fd", type=int, hidden=True, help="descriptor of a socket that listens already")
@_attached
@with_settings(*SERVER, *LOG)
def api(settings: Settings, fd: int | None, attached: bool) -> None:
    r"""Run the API alone: it accepts events and answers questions; `pipeline` brings events into the answers.

    \b
    Example: lineage-bridge api --port 8001
    """
    tell_logs(settings, "api")
    if attached:
        end_with_parent()
    with listen(settings) if fd is None else socket.socket(fileno=fd) as listener:
        serve_api(settings, listener)


@click.command()
@_attached
@with_settings(*FOLDER, *SPARK)
def pipeline(settings: Settings, attached: bool) -> None:
    r"""Run the pipeline alone: the stream from the log to the graph, on Spark.

    \b
    Example: lineage-bridge pipeline --spark-memory 4g
    """
    tell_logs(settings, "pipeline")
    if attached:
        end_with_parent()
    run_pipeline(settings)

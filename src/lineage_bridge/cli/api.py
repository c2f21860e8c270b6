"""The command `api`: runs the process that accepts events and answers questions."""

import socket

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import CONNECTIONS, LOG, QUESTIONS, SERVER, with_settings
from lineage_bridge.cli.process import ATTACHED, begin, explain_variable
from lineage_bridge.config import Settings
from lineage_bridge.supervisor import answering
from lineage_bridge.wiring.access import check_reachable
from lineage_bridge.wiring.api import serve_api
from lineage_bridge.wiring.processes import listen


@click.command(cls=Command, examples=("api --port 8001",))
@click.option("--fd", type=int, hidden=True, help="file descriptor of a listening socket")
@ATTACHED
@with_settings(*SERVER, *CONNECTIONS, *QUESTIONS, *LOG)
def api(settings: Settings, fd: int | None, attached: bool) -> None:
    """Run only the API, which accepts events and answers questions.

    Answers contain new events once `pipeline` has processed them.
    """
    begin(settings, "api", attached=attached)
    if fd is None:
        check_reachable(settings)
        explain_variable()
    with listen(settings) if fd is None else socket.socket(fileno=fd) as listener, answering(settings) as questions:
        serve_api(settings, listener, questions=questions)

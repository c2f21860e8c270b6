"""The command `questions`: runs the process that answers questions. The API starts it."""

import socket

import click

from lineage_bridge.cli.command import Command
from lineage_bridge.cli.options import FOLDER, QUESTIONS, with_settings
from lineage_bridge.config import Settings
from lineage_bridge.wiring.processes import configure_telemetry, end_with_parent
from lineage_bridge.wiring.questions import answer_questions


@click.command(cls=Command, hidden=True)
@click.option("--fd", type=int, required=True, help="file descriptor of a listening socket")
@with_settings(*FOLDER, *QUESTIONS)
def questions(settings: Settings, fd: int) -> None:
    """Answer questions for the API, until standard input is closed."""
    configure_telemetry(settings, "questions")
    end_with_parent()
    with socket.socket(fileno=fd) as listener:
        answer_questions(settings, listener)

"""Runs the process that answers questions for the API, so that they take no time or memory from the process that accepts events."""

import gc
import os
import socket
import sys
from typing import Any

import uvloop

from lineage_bridge.config import Settings
from lineage_bridge.errors import UnavailableError
from lineage_bridge.eventlog.archive.reader import AllRecords
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.wiring.processes import is_alive, now_us, pipeline_status, version
from lineage_bridge.wiring.shared import all_records, question_lanes, question_readers, state_database

NICENESS = 5
"""The niceness of this process: when all processors are busy, processes that accept and fold events have precedence."""
SWITCH_S = 0.0005
COLLECTED_AFTER = 50_000
"""After how many new objects Python looks for unreachable cycles. One answer makes thousands of objects, but hardly any cycles."""


class _ElsewhereOnly:
    """In the process that answers questions, stands for a service that only the API's own process has. Using it raises UnavailableError."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for any service
        raise UnavailableError(f"internal error: the process that answers questions was asked for {name!r}", "please report this")


class _LogToRead(_ElsewhereOnly):
    """The event log for the process that answers questions, which only reads it."""

    def __init__(self, records: AllRecords) -> None:
        self.end = records.durable_end


def answer_questions(settings: Settings, listener: socket.socket) -> None:
    """Answer the questions that the API passes on over `listener`, until this process ends."""
    from lineage_bridge.api.answering.answerer import answer_questions as answer  # noqa: PLC0415  # loads the web server
    from lineage_bridge.api.app import create_question_app  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.services import Services  # noqa: PLC0415  # of the same part

    os.nice(NICENESS)
    # Threads that compute yield Python's lock sooner to the one that sends answers.
    sys.setswitchinterval(SWITCH_S)
    gc.freeze()
    gc.set_threshold(COLLECTED_AFTER)
    paths, records = settings.paths, all_records(settings)
    elsewhere: Any = _ElsewhereOnly()
    log: Any = _LogToRead(records)
    with question_readers(settings) as pool:
        services = Services(
            log=log,
            records=records,
            graph=pool.reader,
            clock_us=now_us,
            pipeline=lambda: pipeline_status(paths),
            is_alive=is_alive,
            disk=lambda: elsewhere.disk,
            log_state=lambda: elsewhere.log_state,
            version=version(),
            graph_id=graph_id(state_database(settings).key()),
            key=b"",
            keys=elsewhere,
            audit=elsewhere,
            sources=elsewhere,
            inputs=elsewhere,
            input_log=elsewhere,
            targets=elsewhere,
            tasks=elsewhere,
            pins=elsewhere,
            erasures=elsewhere,
            lanes=question_lanes(settings),
        )
        uvloop.run(answer(create_question_app(services), listener))

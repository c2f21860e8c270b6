"""The lives of connectors: what each poll sees, and the events it gives. Written by hand.

A sighting is `connector's state: states of its tasks`, with `@ version` of its configuration (1 unless told), `-` for one that the worker
lists without a status; a connector that a poll does not name is not there. A failed part fails with `Boom`; `FAILED(x)` with `x`.
An event is its type, job and run; runs of a job are numbered as they come. What is behind a dash is the error's message, or the facets
of the run that were told anew, `+` before each.
"""

from typing import NamedTuple


class Poll(NamedTuple):
    sees: dict[str, str]
    gives: list[str]
    lists: bool = True
    """Whether the plain list of connectors could be had."""


class Life(NamedTuple):
    name: str
    polls: list[Poll]


ALL = "+kafka_connect +kafka_connect_health +processing_engine"
BEGUN = [f"START shop #1 {ALL}", "RUNNING shop #1"]

LIVES = [
    Life(
        "a connector that runs beats at each poll",
        [Poll({"shop": "RUNNING: RUNNING"}, BEGUN), *[Poll({"shop": "RUNNING: RUNNING"}, ["RUNNING shop #1"])] * 2],
    ),
    Life(
        "a connector that fails before it has tasks starts and fails",
        [
            Poll({"shop": "FAILED:"}, [f"START shop #1 {ALL}", "FAIL shop #1 - Boom"]),
            Poll({"shop": "FAILED:"}, []),
            Poll({"shop": "RUNNING: RUNNING"}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    Life(
        "its only task fails, and is restarted",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll({"shop": "RUNNING: FAILED"}, ["FAIL shop #1 +kafka_connect +kafka_connect_health - Boom"]),
            Poll({"shop": "RUNNING: FAILED"}, []),
            Poll({"shop": "RUNNING: FAILED(Crash)"}, ["FAIL shop #1 +kafka_connect_health - Crash"]),
            Poll({"shop": "RUNNING: RESTARTING"}, []),
            Poll({"shop": "RUNNING: RUNNING"}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    Life(
        "one of several tasks fails: the connector goes on, the task's run does not",
        [
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [f"START shop #1 {ALL}", "RUNNING shop #1", "START shop.0 #1", "RUNNING shop.0 #1", "START shop.1 #1", "RUNNING shop.1 #1"],
            ),
            Poll(
                {"shop": "RUNNING: RUNNING FAILED"},
                ["RUNNING shop #1 +kafka_connect +kafka_connect_health", "RUNNING shop.0 #1", "FAIL shop.1 #1 - Boom"],
            ),
            Poll({"shop": "RUNNING: RUNNING FAILED"}, ["RUNNING shop #1", "RUNNING shop.0 #1"]),
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                ["RUNNING shop #1 +kafka_connect +kafka_connect_health", "RUNNING shop.0 #1", "START shop.1 #2", "RUNNING shop.1 #2"],
            ),
        ],
    ),
    Life(
        "all tasks fail: so does the connector, once",
        [
            Poll(
                {"shop": "RUNNING: RUNNING FAILED"},
                [
                    f"START shop #1 {ALL}",
                    "RUNNING shop #1",
                    "START shop.0 #1",
                    "RUNNING shop.0 #1",
                    "START shop.1 #1",
                    "FAIL shop.1 #1 - Boom",
                ],
            ),
            Poll(
                {"shop": "RUNNING: FAILED FAILED"},
                ["FAIL shop #1 +kafka_connect +kafka_connect_health - Boom", "FAIL shop.0 #1 - Boom"],
            ),
            Poll({"shop": "RUNNING: FAILED FAILED"}, []),
            Poll(
                {"shop": "RUNNING: RUNNING FAILED"},
                [
                    f"START shop #2 {ALL}",
                    "RUNNING shop #2",
                    "START shop.0 #2",
                    "RUNNING shop.0 #2",
                    "START shop.1 #2",
                    "FAIL shop.1 #2 - Boom",
                ],
            ),
        ],
    ),
    Life(
        "a connector that fails while its tasks still run",
        [
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [f"START shop #1 {ALL}", "RUNNING shop #1", "START shop.0 #1", "RUNNING shop.0 #1", "START shop.1 #1", "RUNNING shop.1 #1"],
            ),
            Poll(
                {"shop": "FAILED: RUNNING RUNNING"},
                ["FAIL shop #1 +kafka_connect +kafka_connect_health - Boom", "RUNNING shop.0 #1", "RUNNING shop.1 #1"],
            ),
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [
                    "COMPLETE shop.0 #1",
                    "COMPLETE shop.1 #1",
                    f"START shop #2 {ALL}",
                    "RUNNING shop #2",
                    "START shop.0 #2",
                    "RUNNING shop.0 #2",
                    "START shop.1 #2",
                    "RUNNING shop.1 #2",
                ],
            ),
        ],
    ),
    Life(
        "paused, unassigned and restarting are no end",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll({"shop": "PAUSED: PAUSED"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health"]),
            Poll({"shop": "PAUSED: PAUSED"}, ["RUNNING shop #1"]),
            Poll({"shop": "UNASSIGNED: UNASSIGNED"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health"]),
            Poll({"shop": "RESTARTING: RESTARTING"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health"]),
            Poll({"shop": "RUNNING:"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health"]),
            Poll({"shop": "RUNNING: RUNNING"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health"]),
        ],
    ),
    Life(
        "stopped is an end, resumed a new run",
        [
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [f"START shop #1 {ALL}", "RUNNING shop #1", "START shop.0 #1", "RUNNING shop.0 #1", "START shop.1 #1", "RUNNING shop.1 #1"],
            ),
            Poll({"shop": "STOPPED:"}, ["ABORT shop #1 +kafka_connect +kafka_connect_health", "ABORT shop.0 #1", "ABORT shop.1 #1"]),
            Poll({"shop": "STOPPED:"}, []),
            Poll({"shop": "RUNNING: UNASSIGNED"}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    Life(
        "a connector that is stopped when it is first seen has no run",
        [
            Poll({"shop": "STOPPED:"}, ["job shop"]),
            Poll({"shop": "STOPPED:"}, []),
            Poll({"shop": "STOPPED: @ 2"}, []),
            Poll({"shop": "RUNNING: RUNNING @ 2"}, BEGUN),
        ],
    ),
    Life(
        "deleted is an end; what comes back under its name is new",
        [
            Poll({"shop": "RUNNING: RUNNING", "other": "STOPPED:"}, ["job other", *BEGUN]),
            Poll({"other": "STOPPED:"}, ["ABORT shop #1"]),
            Poll({"other": "STOPPED:"}, []),
            Poll({"shop": "RUNNING: RUNNING", "other": "STOPPED:"}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    Life(
        "deleted after it failed: it has ended already",
        [Poll({"shop": "RUNNING: FAILED"}, [f"START shop #1 {ALL}", "FAIL shop #1 - Boom"]), Poll({}, [])],
    ),
    Life(
        "connectors listed without a status are not gone, and none is if the listing failed",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll({"shop": "-"}, ["unseen connector shop"]),
            Poll({}, ["unseen list of connectors"], lists=False),
            Poll({"shop": "RUNNING: RUNNING"}, ["RUNNING shop #1"]),
        ],
    ),
    Life(
        "a changed configuration completes the old run and starts another",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll({"shop": "RUNNING: RUNNING @ 2"}, ["COMPLETE shop #1", f"START shop #2 {ALL}", "RUNNING shop #2"]),
            Poll({"shop": "RUNNING: FAILED @ 3"}, ["COMPLETE shop #2", f"START shop #3 {ALL}", "FAIL shop #3 - Boom"]),
            Poll({"shop": "RUNNING: RUNNING @ 1"}, [f"START shop #4 {ALL}", "RUNNING shop #4"]),
        ],
    ),
    Life(
        "what failed under the old configuration is not yet the new one's failure, unless it still stands at the next poll",
        [
            Poll({"shop": "RUNNING: FAILED"}, [f"START shop #1 {ALL}", "FAIL shop #1 - Boom"]),
            Poll({"shop": "RUNNING: FAILED @ 2"}, [f"START shop #2 {ALL}"]),
            Poll({"shop": "RUNNING: RUNNING @ 2"}, ["RUNNING shop #2 +kafka_connect +kafka_connect_health"]),
            Poll({"shop": "RUNNING: FAILED @ 2"}, ["FAIL shop #2 +kafka_connect +kafka_connect_health - Boom"]),
            Poll({"shop": "RUNNING: FAILED @ 3"}, [f"START shop #3 {ALL}"]),
            Poll({"shop": "RUNNING: FAILED @ 3"}, ["FAIL shop #3 - Boom"]),
        ],
    ),
    Life(
        "changed and stopped at once: the old run was stopped",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll({"shop": "STOPPED: @ 2"}, ["ABORT shop #1 +kafka_connect_health"]),
            Poll({"shop": "RUNNING: RUNNING @ 2"}, [f"START shop #2 {ALL}", "RUNNING shop #2"]),
        ],
    ),
    Life(
        "tasks that are away for a moment and come back have runs of their own",
        [
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [f"START shop #1 {ALL}", "RUNNING shop #1", "START shop.0 #1", "RUNNING shop.0 #1", "START shop.1 #1", "RUNNING shop.1 #1"],
            ),
            Poll(
                {"shop": "RUNNING:"}, ["RUNNING shop #1 +kafka_connect +kafka_connect_health", "COMPLETE shop.0 #1", "COMPLETE shop.1 #1"]
            ),
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [
                    "RUNNING shop #1 +kafka_connect +kafka_connect_health",
                    "START shop.0 #2",
                    "RUNNING shop.0 #2",
                    "START shop.1 #2",
                    "RUNNING shop.1 #2",
                ],
            ),
        ],
    ),
    Life(
        "more tasks without a change: a run for each; fewer: theirs are complete",
        [
            Poll({"shop": "RUNNING: RUNNING"}, BEGUN),
            Poll(
                {"shop": "RUNNING: RUNNING RUNNING"},
                [
                    "RUNNING shop #1 +kafka_connect +kafka_connect_health",
                    "START shop.0 #1",
                    "RUNNING shop.0 #1",
                    "START shop.1 #1",
                    "RUNNING shop.1 #1",
                ],
            ),
            Poll(
                {"shop": "RUNNING: RUNNING"},
                ["RUNNING shop #1 +kafka_connect +kafka_connect_health", "COMPLETE shop.0 #1", "COMPLETE shop.1 #1"],
            ),
        ],
    ),
]

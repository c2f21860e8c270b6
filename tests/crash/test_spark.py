"""Spark is killed under `serve`: new answers stop, intake goes on, and what came meanwhile is answered when Spark is back."""

import json
import os
import signal
import time
from typing import Any

import pytest
from tests.crash.running.support import STREAM, all_acknowledged, audit_events, producing, until
from tests.events import dataset, run_event
from tests.serving import START_S, Served

from lineage_bridge.api.position_tokens import decode
from lineage_bridge.errors import NotFoundError

pytestmark = pytest.mark.spark

NAMESPACE = "of a killed spark"


def pipeline_of(served: Served) -> dict[str, Any]:
    status: dict[str, Any] = json.loads(served.paths.pipeline_status.read_bytes())
    return status


def is_known(served: Served, name: str) -> bool:
    try:
        served.client.get("/api/v1/lineage/datasets/detail", namespace=NAMESPACE, name=name)
    except NotFoundError:
        return False
    return True


def post(served: Served, name: str) -> str:
    """Tell of a dataset; the position at which it is known."""
    event = run_event(run="00000000-0000-0000-0000-00000000c4a5", job="of a killed spark", outputs=[dataset(name, NAMESPACE)])
    answer = served.client.post("/api/v1/lineage", event)
    assert answer["status"] == "accepted"
    return str(answer["position"])


def test_killing_spark_stops_new_answers_while_intake_goes_on(served: Served, report):
    served.client.wait_for(post(served, "before"))
    assert is_known(served, "before")
    before = pipeline_of(served)
    stand = decode(served.client.readiness()["lag"]["applied"])[STREAM]

    os.kill(before["spark_pid"], signal.SIGKILL)
    report(f"killed spark (pid {before['spark_pid']}) under the pipeline (pid {before['pid']})")
    newest = post(served, "meanwhile")
    until(lambda: served.client.readiness()["parts"]["pipeline"]["state"] != "ok", 15, "readiness that tells of the pipeline")
    assert not served.client.answers("/api/v1/ready")
    states = []
    with producing(served.url, threads=2, pause_s=0.1, stubborn=False) as producers:
        deadline = time.monotonic() + START_S
        while not (state := served.client.readiness())["ready"]:
            assert time.monotonic() < deadline
            if state["parts"]["pipeline"]["state"] != "ok":
                assert decode(state["lag"]["applied"])[STREAM] == stand
                assert state["parts"]["intake"]["state"] == state["parts"]["store"]["state"] == "ok"
                assert not is_known(served, "meanwhile") or served.client.readiness()["parts"]["pipeline"]["state"] == "ok"
                states.append(f"{state['parts']['pipeline']['state']}: {state['parts']['pipeline']['detail']}")
            time.sleep(0.2)
        acknowledged = all_acknowledged(producers)
    assert states
    report("; ".join(dict.fromkeys(states)))
    assert acknowledged.unanswered == 0
    assert acknowledged.events

    served.client.wait_for(newest)
    assert is_known(served, "meanwhile")
    served.catch_up()
    audit_events(served.paths.graph, acknowledged)
    after = pipeline_of(served)
    assert after["pid"] != before["pid"]
    assert after["spark_pid"] != before["spark_pid"]

"""Extractions of a stand-in of Confluent Cloud, by commands and by the documented example; everything but Spark is real."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.confluent.installation import TASKS, Installation, installed
from tests.confluent.organization.resources import DEV, STAGING
from tests.ports import HOST, free_port
from tests.servers.web.faulty import Faulty

END_TO_END = """
import httpx
import time

client = httpx.Client(base_url="http://localhost:8000/api/v1")

# 1. Extract lineage from Confluent Cloud
print("1. Triggering extraction...")
task = client.post("/tasks/extract", params={
    "environment_ids": "env-26wn6m"
}).json()
task_id = task["task_id"]

# 2. Poll for completion
print(f"2. Waiting for task {task_id}...")
while True:
    status = client.get(f"/tasks/{task_id}").json()
    if status["status"] == "completed":
        graph_id = status["result"]["graph_id"]
        print(f"   ✓ Extraction complete: {graph_id}")
        break
    elif status["status"] == "failed":
        print(f"   ✗ Extraction failed: {status['error']}")
        exit(1)
    time.sleep(5)

# 3. Get OpenLineage events (populates EventStore)
print("3. Converting graph to OpenLineage events...")
events = client.get("/graphs/enriched/view").json()
print(f"   ✓ Generated {len(events.get('events', []))} events")

# 4. Query dataset lineage
print("4. Querying dataset lineage...")
lineage = client.get("/lineage/datasets/lineage", params={
    "namespace": "confluent://env-26wn6m/lkc-mjnq51",
    "name": "lineage_bridge.orders_v2",
    "direction": "both",
    "depth": 5
}).json()

# 5. Display results
print(f"\\n✓ Lineage for: {lineage['origin']['name']}")
print(f"  Direction: {lineage['direction']}")
print(f"  Datasets visited: {lineage['datasets_visited']}")
print(f"  Jobs visited: {lineage['jobs_visited']}")
print(f"\\n  Lineage chain:")

for event in lineage['events']:
    job = event['job']['name']
    inputs = [i['name'] for i in event['inputs']]
    outputs = [o['name'] for o in event['outputs']]
    if inputs:
        print(f"    {', '.join(inputs)} → [{job}] → {', '.join(outputs)}")
    else:
        print(f"    [{job}] → {', '.join(outputs)}")
"""
"""The documented example as it is printed, its indentation restored."""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Paused before its first poll; without the planes that no real broker serves here."""
    with installed(tmp_path_factory.mktemp("installation"), off=["metrics", "groups"]) as found:
        yield found


@pytest.fixture(scope="module")
def extracted(installation: Installation) -> Installation:
    """After a whole extraction."""
    command = installation.command("extract")
    output = command.communicate(timeout=120)
    assert command.returncode in (0, 3), output
    return installation


@pytest.fixture
def healthy(installation: Installation) -> Iterator[Installation]:
    yield installation
    installation.cloud.heal()


def test_the_documented_example_runs_as_printed(healthy: Installation, tmp_path: Path) -> None:
    text = END_TO_END.replace("http://localhost:8000", healthy.server.url)
    for printed, here in (("env-26wn6m", STAGING), ("lkc-mjnq51", DEV), ("lineage_bridge.orders_v2", "orders"), ("sleep(5)", "sleep(1)")):
        assert printed in text
        text = text.replace(printed, here)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (graph,) = re.findall(r"✓ Extraction complete: (\S+)", done.stdout)
    assert healthy.get(f"/graphs/{graph}")["stats"]["node_count"] > 50
    assert int(re.findall(r"✓ Generated (\d+) events", done.stdout)[0]) > 10
    assert "✓ Lineage for: orders" in done.stdout
    assert int(re.findall(r"Datasets visited: (\d+)", done.stdout)[0]) > 3
    assert re.search(r"orders.* → \[orders-to-s3\] → .*topics/orders", done.stdout)


def test_an_extraction_lists_each_plane_and_what_could_not_be_read(call, healthy: Installation) -> None:
    done = call("extract", "--environment", STAGING, "--cluster", DEV, "--url", healthy.server.url)
    assert re.search(r"^connect +1 +1 ", done.out, re.MULTILINE)
    assert f"connect {STAGING}/{DEV}: observed" in done.err
    assert re.search(r"^completed: \d+ events?; the graph has \d+ nodes and \d+ edges$", done.out, re.MULTILINE)
    assert done.code == (3 if "not everything could be read" in done.out else 0)
    healthy.cloud.fail("connect", "broken")
    broken = call("extract", "--url", healthy.server.url)
    assert broken.code == 3
    assert re.search(rf"^failed +connect {STAGING}/{DEV}, .*500", broken.out, re.MULTILINE)
    result = json.loads(call("extract", "--off", "connect", "-o", "json", "--url", healthy.server.url).out)
    assert result["status"] == "completed"
    assert "connect" not in {plane["plane"] for plane in result["planes"]}


def test_an_extraction_that_can_read_nothing_fails(call, healthy: Installation) -> None:
    wrong = {**healthy.cloud.settings(), "cloud": {"key": "WRONG", "secret": "${env:HOME}"}}
    order = {"name": "wrong", "kind": "confluent", "settings": wrong}
    httpx.post(f"{healthy.server.url}/api/v1/sources", json=order).raise_for_status()
    try:
        assert "cloud or wrong" in call("watch", "--url", healthy.server.url).err
        several = call("extract", "--url", healthy.server.url)
        assert (several.code, "cloud, wrong" in several.err) == (2, True)
        done = call("extract", "--source", "wrong", "--url", healthy.server.url)
        assert done.code == 1
        assert "failed: " in done.out
        assert "401" in done.out
    finally:
        httpx.delete(f"{healthy.server.url}/api/v1/sources/wrong").raise_for_status()


def test_an_interrupt_cancels_the_task_which_can_be_resumed(call, healthy: Installation, faulty: Callable[[str], Faulty]) -> None:
    healthy.cloud.fail("connect", "held")
    proxy = faulty(healthy.server.url)
    command = healthy.command("extract", url=proxy.url)
    task = healthy.running_task()
    follows = proxy.wait_for(f"GET {TASKS}/{task}")
    command.send_signal(signal.SIGINT)
    cancels = proxy.wait_for(f"POST {TASKS}/{task}/cancel", after=follows)
    proxy.wait_for(f"GET {TASKS}/{task}", after=cancels)
    healthy.cloud.heal()
    output = command.communicate(timeout=40)[1]
    assert command.returncode == 130
    assert f"--resume {task}" in output
    shown = call("task", "show", task, "--url", healthy.server.url).out
    assert "failed: cancelled" in shown
    assert task in call("task", "list", "--status", "failed", "--url", healthy.server.url).out
    requested = len(healthy.cloud.calls)
    done = call("extract", "--resume", task, "--url", healthy.server.url)
    assert done.code in (0, 3)
    assert "completed: " in done.out
    assert not [request for request in healthy.cloud.calls[requested:] if request.target.endswith("/topics")], "topics are not read again"
    assert call("task", "resume", task, "--url", healthy.server.url).code == 2
    assert call("extract", "--resume", task, "--env", "x", "--url", healthy.server.url).code == 2


def test_a_task_is_cancelled_and_resumed_by_its_id(call, healthy: Installation) -> None:
    healthy.cloud.fail("connect", "held")
    command = healthy.command("extract")
    task = healthy.running_task()
    assert "is cancelled" in call("task", "cancel", task, "--url", healthy.server.url).out
    healthy.cloud.heal()
    output = command.communicate(timeout=40)[0]
    assert command.returncode == 1
    assert f"lineage-bridge extract --resume {task}" in output
    assert call("task", "resume", task, "--url", healthy.server.url).code in (0, 3)
    assert json.loads(call("task", "show", task, "--json", "--url", healthy.server.url).out)["status"] == "completed"


def test_no_secret_of_the_organization_is_stored_or_answered(extracted: Installation) -> None:
    texts = [path.read_bytes() for path in extracted.folder.rglob("*") if path.is_file()]
    texts += [json.dumps(extracted.get(path)).encode() for path in ("/tasks", "/sources", "/graphs/enriched/view")]
    assert sum(map(len, texts)) > 100_000
    for secret in extracted.cloud.secrets:
        assert not any(secret.encode() in text for text in texts), secret


def test_a_task_interrupted_by_a_kill_resumes_to_the_same_graph(call, extracted: Installation, tmp_path: Path) -> None:
    whole = _graph(extracted)
    with installed(tmp_path, off=["metrics", "groups"]) as killed:
        killed.cloud.fail("connect", "held")
        task = httpx.post(f"{killed.server.url}{TASKS}/extract").json()["task_id"]
        assert killed.running_task() == task
        api = killed.processes.pop(0)
        api.send_signal(signal.SIGKILL)
        assert api.wait(10) != 0
        killed.cloud.heal()
        killed.start("api")
        stored = killed.get(f"/tasks/{task}")
        assert (stored["status"], stored["error"], stored["resumable"]) == ("failed", "interrupted", True)
        assert {"discovery", "topics"} <= {plane["plane"] for plane in stored["planes"]}
        assert call("extract", "--resume", task, "--url", killed.server.url).code in (0, 3)
        assert _graph(killed) == whole


def _graph(installation: Installation) -> tuple[set[str], set[tuple[str, str, str]]]:
    """All nodes and edges."""
    (listed,) = installation.get("/graphs")
    graph = installation.get(f"/graphs/{listed['graph_id']}")
    edges = {(edge["src_id"], edge["dst_id"], edge["edge_type"]) for edge in graph["edges"]}
    return {node["node_id"] for node in graph["nodes"]}, edges


def test_a_catalog_that_cannot_be_read_is_an_exit_code_of_its_own(call, healthy: Installation) -> None:
    url = ("--url", healthy.server.url)
    order = ("extract", "--environment", STAGING, "--cluster", DEV)
    unread = json.loads(call(*order, "--no-enrich", "--json", *url).out)["unknown"]
    order += tuple(word for plane in sorted({plane["plane"] for plane in unread}) for word in ("--off", plane))
    alone = call(*order, "--no-enrich", *url)
    assert (alone.code, "completed: " in alone.out, "catalog of source" in alone.out) == (0, True, False), alone
    nobody = {"name": "catalog", "kind": "datahub", "settings": {"url": f"http://{HOST}:{free_port()}"}}
    httpx.post(f"{healthy.server.url}/api/v1/sources", json=nobody).raise_for_status()
    try:
        assert call(*order, "--no-enrich", *url).code == 0
        for enriched in (call(*order, "--enrich", *url), call(*order, *url)):
            assert enriched.code == 3, enriched
            assert re.search(r"^catalog of source catalog:\nfailed: .*(refused|unreachable|answer)", enriched.out, re.MULTILINE), (
                enriched.out
            )
        answer = json.loads(call(*order, "--enrich", "--json", *url).out)
        assert (answer["status"], [task["status"] for task in answer["catalogs"]]) == ("completed", ["failed"])
        wrong = call("extract", "--source", "nowhere", "--enrich", *url)
        assert (wrong.code, "catalog of source" in wrong.out) == (2, False), wrong
    finally:
        httpx.delete(f"{healthy.server.url}/api/v1/sources/catalog").raise_for_status()

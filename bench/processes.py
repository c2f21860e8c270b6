"""processes: how long the product takes to start, and what memory each of its processes holds."""

import json
import time
from itertools import islice
from pathlib import Path

import httpx
import psutil

from bench.generator import Corpus, generate
from bench.meter import Clock, Result
from bench.server import Running, started

_EVENTS = 2_000


def run(work: Path) -> Result:
    """A first start in an empty folder, then, after some events, a second one in the same folder."""
    first = _start(work / "data", send=True)
    return {"first_start": first, "second_start": _start(work / "data", send=False)}


def _start(data_dir: Path, *, send: bool) -> Result:
    with started("serve", data_dir) as server:
        health = server.wait("/api/v1/health")
        ready = server.wait("/api/v1/ready", 0.05)
        cpu, _ = Clock(server.process, cpu=0.0, wall=0.0).read()
        out: Result = {
            "health_s": round(health, 2),
            "ready_s": round(ready, 2),
            "cpu_s_until_ready": round(cpu, 2),
            "memory": _memory(server),
        }
        if send:
            _send(server)
            out["memory_after_events"] = _memory(server)
    return out


def _send(server: Running) -> None:
    bodies = [sent.body for sent in islice(generate(Corpus(_EVENTS)), _EVENTS) if sent.fate != "damaged"]
    with httpx.Client(base_url=server.url, timeout=60.0) as client:
        answer = client.post("/api/v1/lineage", content=b"[" + b",".join(bodies) + b"]")
        answer.raise_for_status()
        position = answer.json()["position"]
        client.get("/api/v1/lineage/jobs", params={"limit": 1, "min-position": position, "wait": 60}).raise_for_status()
    time.sleep(1)


def _memory(server: Running) -> dict[str, int]:
    """Resident MB by kind of process. Workers and Spark's Python daemon share pages, so their sum counts those more than once."""
    status = json.loads((server.data_dir / "pipeline.json").read_bytes())
    out: dict[str, int] = {}
    for member in [server.process, *server.process.children(recursive=True)]:
        try:
            name, size = _role(server, status, member), member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        out[name] = out.get(name, 0) + (size >> 20)
    return dict(sorted(out.items()))


def _role(server: Running, status: Result, member: psutil.Process) -> str:
    """The role of one of the product's processes."""
    if member.pid == server.process.pid:
        return "supervisor"
    if member.pid == status["spark_pid"]:
        return "java"
    if member.pid == status["pid"]:
        return "pipeline_driver"
    if "questions" in member.cmdline():
        return "questions"
    return "python_workers" if status["spark_pid"] in [above.pid for above in member.parents()] else "api"

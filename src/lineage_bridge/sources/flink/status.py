"""Reads the parallelism, checkpoints and failures of a job from the JobManager's answers. Pure."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.flink.fetch import Answer

_LONGEST_TRACE = 16_384


def parallelism_of(detail: Answer | None, known: Mapping[str, Any]) -> int:
    """The highest parallelism of the job's vertices."""
    if detail is None:
        return int(known.get("parallelism", 0))
    return max((int(vertex.get("parallelism", 0)) for vertex in detail["vertices"]), default=0)


def checkpoints_of(answer: Answer | None) -> Json | None:
    """The number of checkpoints, and the newest one: its id, bytes, duration (milliseconds) and start (milliseconds since 1970)."""
    counts = (answer or {}).get("counts")
    if not isinstance(counts, dict) or not any(counts.values()):
        return None
    facts: Json = {name: counts[name] for name in ("completed", "failed", "restored") if name in counts}
    latest = ((answer or {}).get("latest") or {}).get("completed")
    if isinstance(latest, dict):
        found = {
            "id": latest.get("id"),
            "size": latest.get("checkpointed_size", latest.get("state_size")),
            "duration_ms": latest.get("end_to_end_duration"),
            "triggered_ms": latest.get("trigger_timestamp"),
        }
        facts["latest"] = {key: value for key, value in found.items() if value is not None}
    return facts


def error_of(answer: Answer | None) -> Json | None:
    """The newest failure of a job: its root cause, stack trace, and time (milliseconds since 1970)."""
    history = (answer or {}).get("exceptionHistory") or {}
    entries = [entry for entry in history.get("entries") or () if isinstance(entry, dict) and entry.get("stacktrace")]
    if entries:
        newest = max(entries, key=lambda entry: int(entry.get("timestamp") or 0))
        trace, at = str(newest["stacktrace"]), int(newest.get("timestamp") or 0)
    elif (answer or {}).get("root-exception"):
        trace, at = str((answer or {})["root-exception"]), int((answer or {}).get("timestamp") or 0)
    else:
        return None
    lines = trace.splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return {"message": mask_text((causes or lines)[-1 if causes else 0]), "trace": mask_text(trace)[:_LONGEST_TRACE], "at": at}

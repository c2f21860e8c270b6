"""Converts pushes, which are publications in the request and answer formats of the LineageBridge prototype. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lineage_bridge.errors import RequestError
from lineage_bridge.graph.identity.node_ids import AWS, DATABRICKS, GOOGLE
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.projections.shapes import PushResult


class PushProvider(NamedTuple):
    """A catalog to which pushes can go, through targets of the kind `kind`. These targets need the extra `extra` of the Python package,
    which installs `library`.

    `options` are the options of the prototype. Each comes with its only allowed value, or with the setting of the target that decides its
    value (with several settings: whether all of them are set). `takes_events`: one event is published to the catalog for each object.
    """

    name: str
    kind: str
    catalog_type: str
    system: str
    extra: str
    library: str
    options: Mapping[str, str | tuple[str, ...] | bool | None] = {}
    takes_events: bool = False


PROVIDERS: Final = (
    PushProvider(
        "databricks_uc",
        "databricks",
        "UNITY_CATALOG",
        DATABRICKS,
        "databricks",
        "databricks-sdk",
        {
            "set_properties": ("warehouse_id",),
            "set_comments": ("warehouse_id", "comments"),
            "create_bridge_table": False,
            "bridge_table_name": None,
            "use_native_lineage": True,
        },
    ),
    PushProvider(
        "aws_glue",
        "glue",
        "AWS_GLUE",
        AWS,
        "aws",
        "botocore",
        {"set_parameters": True, "set_description": "comments"},
    ),
    PushProvider("google", "google", "GOOGLE_DATA_LINEAGE", GOOGLE, "google", "google-auth", takes_events=True),
    PushProvider("datazone", "datazone", "AWS_DATAZONE", AWS, "aws", "botocore", takes_events=True),
)
"""The providers of the prototype, in its order."""


_MOST_SHOWN: Final = 100
"""The maximum length, in characters, of a part of a request that an error message repeats."""
_COUNTED: Final = {
    "tables_updated": "tables",
    "properties_set": "properties",
    "comments_set": "comments",
    "external_metadata_registered": "external_metadata",
    "lineage_relationships_created": "relationships",
}
"""For each counter in a push's result: the kind of objects that it counts, as a report's `written` names the kind."""


def check_options(provider: PushProvider, options: Mapping[str, Any], settings: Mapping[str, Any], target: str) -> None:
    """Raise RequestError if an option differs from the settings of the target.

    Only the target's settings decide what is published: otherwise a push and a publication with different options would undo each other.
    """
    for name, value in options.items():
        if name not in provider.options:
            known = ", ".join(sorted(provider.options)) or "none"
            raise RequestError(f"{provider.name} has no option {_shown(name)}", f"its options: {known}")
        setting = provider.options[name]
        expected = settings.get(setting) if isinstance(setting, str) else setting
        if isinstance(setting, tuple):
            expected, setting = all(map(settings.get, setting)), " and ".join(setting)
        if type(value) is not type(expected) or value != expected:  # 0 equals False
            hint = f"leave the option out, or change {setting} of the target" if isinstance(setting, str) else "leave the option out"
            raise RequestError(f"option {name} is {_shown(value)}, but target {target} is set to {expected!r}", hint)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def push_result(reports: Mapping[str, PublicationReport], failures: Iterable[str] = (), *, takes_events: bool = False) -> PushResult:
    """The result of publications, by the names of their targets; `failures` are targets that could not be published to, and why."""
    every = list(reports.values())
    counts = {counter: sum(report.written.get(what, 0) for report in every) for counter, what in _COUNTED.items()}
    if takes_events:
        counts["tables_updated"] = sum(report.outcomes.get("done", 0) for report in every)
    return PushResult(
        **counts,
        errors=[*failures, *(text for name, report in reports.items() for text in _errors(name, report))],
        skipped=[text for report in every for text in _skipped(report)],
        targets=list(reports),
        unchanged=sum(report.unchanged for report in every),
    )


def _errors(name: str, report: PublicationReport) -> Iterator[str]:
    if report.state != "done":
        reason = report.error + (f" ({report.hint})" if report.hint else "")
        yield f"target {name}: {report.state}" + (f": {reason}" if reason else "")
    for operation in report.operations:
        if operation.outcome not in ("", "done"):
            detail = f": {operation.detail}" if operation.detail else ""
            yield f"{operation.kind} {operation.namespace} {operation.name}: {operation.outcome}{detail}"


def _skipped(report: PublicationReport) -> Iterator[str]:
    for found in report.drift:
        yield f"{found.kind} {found.namespace} {found.name} {found.finding}"
    for unmatched in report.unmatched:
        yield f"nothing in the graph matches the filter {unmatched}"
    for reason, count in report.kept.items():
        yield f"{count} {reason}"
    for what, count in report.not_expressible.items():
        yield f"{count} not expressible in the catalog: {what}"

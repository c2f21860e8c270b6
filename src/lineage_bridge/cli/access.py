"""Prints who may read and write datasets, and which jobs do."""

from collections.abc import Mapping

from lineage_bridge.cli.client import Json
from lineage_bridge.cli.console import format_count, format_time, print_line, print_message
from lineage_bridge.cli.short_names import ShortNames

_EVERYBODY = "User:*"
_NOT_OBSERVED = {
    "super_users": "super users",
    "role_bindings": "role bindings (RBAC), also those of administrators",
    "policies": "role bindings, IAM policies and other rights that are not ACLs",
    "default": "everybody, if the cluster opens topics without ACLs (allow.everyone.if.no.acl.found)",
}


def print_access(answer: Json) -> None:
    """Print who may read and write the datasets of a trace."""
    nodes = {node["id"]: node for node in answer["nodes"]}
    jobs = ShortNames(job for item in answer["access"] for side in ("readers", "writers") for job in item.get(side, []))
    print_line("who can see it:")
    for item in answer["access"]:
        node = nodes[item["node"]]
        print_line(f"  {node['name']}  {node['namespace']}")
        for line in _lines(item, jobs):
            print_line(f"    {line}")
    if left_out := answer.get("access_left_out"):
        print_message(f"{format_count(left_out, 'dataset')} left out: reading who may read and write them took too long")


def _lines(item: Mapping[str, Json], jobs: ShortNames) -> list[str]:
    """What is known of one dataset."""
    if item.get("hidden"):
        return ["not shown: it is not in the namespaces of this key"]
    lines = []
    if "may_read" in item:
        lines += [f"may read: {_principals(item, 'read')}", f"may write: {_principals(item, 'write')}"]
        not_observed = ", ".join(_NOT_OBSERVED.get(kind, kind) for kind in item.get("not_observed", []))
        lines.append(f"reported {format_time(item['observed'])}{'; not included: ' if not_observed else ''}{not_observed}")
    else:
        collector = item.get("collector")
        by = f"a source of kind {collector} reports it" if collector else "no source reports it for this system"
        lines.append(f"may read or write: not known; {by}")
    lines += [f"{word}: {jobs.join(item[side])}" for word, side in (("read by", "readers"), ("written by", "writers")) if item.get(side)]
    return [*lines, "more than is shown here"] if item.get("cut") else lines


def _principals(item: Mapping[str, Json], right: str) -> str:
    may, may_not = (", ".join(map(_principal, item.get(f"{key}_{right}", []))) for key in ("may", "not"))
    nobody = "nobody: no ACL is for it" if item.get("no_rules") else "nobody"
    return f"{may or nobody}{f'; but not {may_not}' if may_not else ''}"


def _principal(item: Json) -> str:
    name = "everybody" if item["principal"] == _EVERYBODY else item.get("name", "")
    return f"{name} ({item['principal']})" if name else str(item["principal"])

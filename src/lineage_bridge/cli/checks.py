"""The result of a test of a source or an input, as rows of a table."""

from lineage_bridge.cli.causes import format_scopes, group_by_cause
from lineage_bridge.cli.client import Json


def check_rows(checks: list[Json]) -> list[list[str]]:
    """One row for each step that works, and one for each reason why steps fail. Steps of one kind that work alike are one row."""
    details = {check["step"]: f"{check['told']} ({check['hint']})" if check["hint"] else check["told"] for check in checks}
    working: dict[tuple[str, str], list[str]] = {}
    for check in checks:
        if check["works"]:
            working.setdefault((check["step"].split(" ")[0], details[check["step"]]), []).append(check["step"])
    rows = [["ok", format_scopes(steps), detail] for (_, detail), steps in working.items()]
    for result, skipped in (("FAILS", False), ("not observed", True)):
        chosen = ((check["step"], details[check["step"]]) for check in checks if not check["works"] and check["skipped"] == skipped)
        causes = group_by_cause(chosen, (check["step"] for check in checks))
        rows += [[result, format_scopes(steps), detail] for detail, steps in causes]
    return rows

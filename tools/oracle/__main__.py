"""Asks Flink's planner for the column flows of the SQL cases and writes them to tests/sql/planner.json."""

import json
from collections import defaultdict

from tests.sql.cases import PLANNER, Case, planned_cases
from tools.oracle import flink, scripts


def main() -> None:
    """One line per case: a digest of what was asked, and the flows or the reason why the planner has none."""
    cases = {case.name: case for case in planned_cases()}
    answers = defaultdict(list)
    for name, kind, *fields in flink.plan({name: scripts.statements_for(case) for name, case in cases.items()}):
        answers[name].append((kind, fields))
    lines = [f"{json.dumps(name)}: {json.dumps(_answer(case, answers[name]))}" for name, case in sorted(cases.items())]
    PLANNER.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _answer(case: Case, answers: list[tuple[str, list[str]]]) -> dict[str, object]:
    kind, rest = answers[-1]
    if kind == "unplanned":
        return {"asked": case.digest, "unplanned": rest[0][:160]}
    flows = [fields for kind, fields in answers if kind == "flow"]
    named = {(_name(case, source), column, _name(case, sink), target) for source, column, sink, target in flows}
    return {"asked": case.digest, "columns": sorted(named)}


def _name(case: Case, path: str) -> str:
    """The case's name of a table that the planner names in full: the longest name that its full name ends with."""
    full = path.split("\0")
    names = case.inputs | case.optional_inputs | case.outputs
    parts = {name: [identifier.strip("`") for identifier in name.split(".")] if "`" not in name else [name.strip("`")] for name in names}
    ends = [name for name, ends in parts.items() if full[-len(ends) :] == ends]
    return max(ends, key=len, default=".".join(full))


if __name__ == "__main__":
    main()

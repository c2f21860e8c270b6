"""The house rules no type checker holds: where modules live, what pure parts may not touch, what files may not tell."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "lineage_bridge"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE = [module for module in MODULES if module.relative_to(PACKAGE).parts[0] in {"graph", "openlineage"}]


def lint_imports(package: Path) -> subprocess.CompletedProcess[str]:
    """Judges a copy of the package by this project's contracts."""
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache", "--no-logo", "--config", ROOT / "pyproject.toml"],
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package_copy(tmp_path):
    return shutil.copytree(PACKAGE, tmp_path / "lineage_bridge", ignore=shutil.ignore_patterns("__pycache__"))


def test_the_package_keeps_its_contracts(package_copy):
    judged = lint_imports(package_copy)
    assert judged.returncode == 0, judged.stdout


@pytest.mark.parametrize(
    ("module", "source", "told"),
    [
        ("unplaced.py", "", "lineage_bridge.unplaced"),
        ("unplaced/__init__.py", "", "lineage_bridge.unplaced"),
        ("graph/planted.py", "import lineage_bridge.store", "lineage_bridge.graph is not allowed to import"),
        ("demo/planted.py", "import lineage_bridge.store", "lineage_bridge.demo is not allowed to import"),
        ("graph/planted.py", "import pyspark.sql", "lineage_bridge.graph.planted -> pyspark"),
        ("store/planted.py", "from pyspark.sql import DataFrame", "lineage_bridge.store.planted -> pyspark"),
        ("eventlog/planted.py", "import sqlite3", "lineage_bridge.eventlog.planted -> sqlite3"),
        ("pipeline/planted.py", "from sqlalchemy import text", "lineage_bridge.pipeline.planted -> sqlalchemy"),
        ("cli/planted.py", "import uvicorn", "lineage_bridge.cli.planted -> uvicorn"),
    ],
)
def test_a_module_out_of_place_breaks_the_contracts(package_copy, module, source, told):
    planted = package_copy / module
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(source)
    judged = lint_imports(package_copy)
    assert judged.returncode != 0
    assert told in judged.stdout


# What makes a function's answer depend on more than its arguments.
IMPURE_MODULES = {"random", "secrets", "time"}
IMPURE_NAMES = {
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "os.environ",
    "os.getenv",
    "os.urandom",
    "uuid.uuid1",
    "uuid.uuid4",
}


def impurities(source: str) -> list[str]:
    """The clock, randomness and environment a module names, by their dotted names whatever it calls them."""
    tree = ast.parse(source)
    called = dict(imported_names(tree))
    dotted = {dotted_name(node, called) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)}
    named = dotted | set(called.values())
    return sorted(name for name in named if name in IMPURE_NAMES or name.split(".")[0] in IMPURE_MODULES)


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.split(".")[0]
                yield alias.asname or name, name
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def dotted_name(node: ast.expr, called: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value, called)}.{node.attr}"
    return called.get(node.id, "local") if isinstance(node, ast.Name) else "value"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import time\ntime.time()", ["time", "time.time"]),
        ("from datetime import datetime as moment\nmoment.now()", ["datetime.datetime.now"]),
        ("import datetime\ndatetime.datetime.now()", ["datetime.datetime.now"]),
        ("import os\nos.environ['HOME']", ["os.environ"]),
        ("from os import getenv", ["os.getenv"]),
        ("from uuid import uuid4", ["uuid.uuid4"]),
        ("from random import choice", ["random.choice"]),
        ("import os.path\nos.environ", ["os.environ"]),
        ("def last(time):\n    return time.last", []),
        ("from uuid import uuid5\nfrom datetime import datetime\nnow = datetime.fromisoformat(text)", []),
    ],
)
def test_impurity_is_seen(source, found):
    assert impurities(source) == found


@pytest.mark.parametrize("module", PURE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_meaning_depends_on_arguments_alone(module):
    assert impurities(module.read_text(encoding="utf-8")) == []


def test_modules_are_named_by_what_they_hold():
    vague = {"base", "common", "helper", "helpers", "misc", "util", "utils"}
    assert [str(module.relative_to(ROOT)) for module in MODULES if module.stem.strip("_") in vague] == []


SILENCING = re.compile(r"#\s*(noqa|type:\s*ignore|mypy:\s*ignore|pragma:|ruff:|fmt:)")
WITH_A_REASON = re.compile(r"#\s*((ruff: )?noqa: [A-Z]+\d+(, ?[A-Z]+\d+)*|type: ignore\[[a-z, -]+\]|fmt: skip)\s+(- |# )?\S+ \S+")


def silenced_without_reason(path: Path) -> list[str]:
    """The comments that silence a tool without a rule and a reason on their line; inner imports need such a one."""
    with tokenize.open(path) as source:
        comments = [t for t in tokenize.generate_tokens(source.readline) if t.type == tokenize.COMMENT]
    bare = [c for c in comments if SILENCING.search(c.string) and not WITH_A_REASON.search(c.string)]
    return [f"{path.name}:{comment.start[0]}: {comment.string}" for comment in bare]


@pytest.mark.parametrize(
    ("line", "accepted"),
    [
        ("import x  # noqa: PLC0415 - an optional extra", True),
        ("import x  # type: ignore[import-untyped]  # it ships no types", True),
        ("x = {1:  2}  # fmt: skip - the pairs line up", True),
        ("x = {1:  2}  # fmt: skip", False),
        ("import x  # noqa: PLC0415", False),
        ("import x  # noqa: PLC0415, F401, E402", False),
        ("import x  # noqa", False),
        ("import x  # type: ignore", False),
        ("x = '# noqa'", True),
    ],
)
def test_a_bare_silencing_comment_is_seen(tmp_path, line, accepted):
    module = tmp_path / "planted.py"
    module.write_text(line + "\n")
    assert (silenced_without_reason(module) == []) is accepted


def test_every_silencing_comment_says_why():
    assert [found for module in MODULES for found in silenced_without_reason(module)] == []


# Folders of one person's machine, and where one machine's packages come from. Neither is the project's.
PRIVATE = {
    "a folder of one machine": re.compile(r"(?<![\w.<>*-])/(root|work|home/\w+|Users/\w+)/"),
    "where packages come from": re.compile(
        r"--(extra-)?index-url\b[ =]|--find-links\b[ =]"
        r"|\b(registry|repo\d*|pypi|files|index|proxy|mirrors?|static|deb)\.(?!example\b)[\w-]+\.(org|com|io|net|dev)\b"
    ),
}


def private_traces(text: str) -> list[str]:
    return [kind for kind, pattern in PRIVATE.items() if pattern.search(text)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("data = '/" + "home/ada/data'", ["a folder of one machine"]),
        ("file:///" + "root/x", ["a folder of one machine"]),
        ("https://files." + "packages.org/simple", ["where packages come from"]),
        ("https://registry.example.com/subjects and https://example.com/work/x and s3://bucket/home/x/", []),
    ],
)
def test_a_private_trace_is_seen(text, kinds):
    assert private_traces(text) == kinds


def test_no_file_tells_of_one_machine():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    assert len(paths) > len(MODULES)
    texts = ((path, path.read_bytes().decode("utf-8", "replace")) for path in paths if path.is_file())
    assert {str(path.relative_to(ROOT)): kinds for path, text in texts if (kinds := private_traces(text))} == {}

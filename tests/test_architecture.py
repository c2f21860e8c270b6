"""The structure of the package: imports, purity, sizes, dependencies and vocabulary."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from lineage_bridge.store.schema.tables import METADATA
from tests.vocabulary import (
    API_MEMBERS,
    BANNED_COLUMNS,
    BANNED_MODULES,
    BANNED_TABLES,
    SAME_IDEA,
    banned_functions,
    banned_names,
    banned_phrases,
    may_have_banned_names,
    misused_names,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "lineage_bridge"
MODULES = sorted(PACKAGE.rglob("*.py"))
PYTHON = [*MODULES, *(path for name in ("tests", "bench", "tools") for path in sorted((ROOT / name).rglob("*.py")))]
PURE = [module for module in MODULES if module.relative_to(PACKAGE).parts[0] in {"graph", "openlineage"}]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lint_imports(package: Path) -> subprocess.CompletedProcess[str]:
    """Check a copy of the package against the contracts of this project."""
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
    linted = lint_imports(package_copy)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    ("module", "source", "reported"),
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
def test_a_module_out_of_place_breaks_the_contracts(package_copy, module, source, reported):
    planted = package_copy / module
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(source)
    linted = lint_imports(package_copy)
    assert linted.returncode != 0
    assert reported in linted.stdout


# Modules and names that make a function depend on more than its arguments.
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
    """The dotted names of the clock, randomness and environment that a module uses, whatever names it imports them under."""
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


MOST_LINES, MOST_MODULES, MOST_METHODS = 300, 15, 12


def is_data(module: Path) -> bool:
    """Whether a module is generated: the migrations of the store."""
    return "versions" in module.parts


def test_files_are_short():
    long = {str(m.relative_to(PACKAGE)) for m in MODULES if not is_data(m) and len(m.read_text().splitlines()) > MOST_LINES}
    assert long == set()


def test_folders_are_small():
    """The command line has a module for each command."""
    sizes = Counter(module.parent for module in MODULES if module.name != "__init__.py" and not is_data(module))
    assert {str(folder.relative_to(PACKAGE)) for folder, size in sizes.items() if size > MOST_MODULES} == {"cli"}


@pytest.mark.parametrize(("folder", "suffixes"), [("tests", {".py"}), ("tools", {".py"}), ("web/src", {".ts", ".tsx"})])
def test_folders_of_tests_and_of_the_page_are_small(folder: str, suffixes: set[str]) -> None:
    modules = [path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes and not path.stem.endswith((".test", ".d"))]
    sizes = Counter(path.parent for path in modules if path.name not in {"__init__.py", "__main__.py", "conftest.py"})
    assert {str(folder.relative_to(ROOT)) for folder, size in sizes.items() if size > MOST_MODULES} == set()


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for module in MODULES:
        yield from ((module, node) for node in ast.walk(parsed(module)) if isinstance(node, ast.ClassDef))


def test_protocols_are_small():
    protocols = [node for _, node in classes() if any("Protocol" in ast.unparse(base) for base in node.bases)]
    assert len(protocols) > 5
    methods = {node.name: sum(isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) for child in node.body) for node in protocols}
    assert {name: count for name, count in methods.items() if count > MOST_METHODS} == {}


def test_a_class_name_belongs_to_one_module():
    modules: dict[str, set[Path]] = {}
    for module, node in classes():
        modules.setdefault(node.name, set()).add(module)
    assert {name for name, found in modules.items() if len(found) > 1} <= SAME_IDEA


def test_names_are_those_of_the_vocabulary():
    suspected = [module for module in PYTHON if may_have_banned_names(module.read_text(encoding="utf-8"))]
    found = {module.relative_to(ROOT).as_posix(): set(banned_names(parsed(module))) for module in suspected}
    assert found
    assert {name: names for name, names in found.items() if names - (API_MEMBERS if "api/schemas" in name else frozenset())} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("class Teller:\n    pass", ["Teller"]),
        ("from lineage_bridge.ports import SourceDesk", ["SourceDesk"]),
        ("def f(x):\n    return x.source_desk(sources=Parcel)", ["Parcel", "source_desk"]),
        ("teller = 'Teller'", []),
        ("import a.Parcel as box", ["Parcel"]),
    ],
)
def test_a_banned_name_is_seen(source, found):
    assert banned_names(ast.parse(source)) == found


def test_words_with_one_meaning_are_used_for_it_alone():
    paths = {module.relative_to(PACKAGE).as_posix(): module for module in MODULES}
    assert {path: found for path, module in paths.items() if (found := misused_names(parsed(module), path))} == {}


def test_a_misused_word_is_seen():
    source = ast.parse("def read(place, span):\n    pass")
    assert [misused_names(source, path) for path in ("visibility/a.py", "inputs/a.py")] == [["span"], ["place"]]


def test_functions_are_named_by_a_verb_and_its_object():
    suspected = [path for path in PYTHON if re.search(r"\bdef (?:of|tell)\(", path.read_text(encoding="utf-8"))]
    assert {path.relative_to(ROOT).as_posix(): found for path in suspected if (found := banned_functions(parsed(path)))} == {}


def test_a_banned_function_is_seen():
    assert banned_functions(ast.parse("def tell(of):\n    return file.tell()\nasync def of():\n    pass")) == ["of", "tell"]


def test_tables_and_columns_are_named_by_the_vocabulary():
    tables = {name: {column.name for column in table.columns} for name, table in METADATA.tables.items()}
    assert BANNED_TABLES & tables.keys() == set()
    assert BANNED_COLUMNS & set().union(*tables.values()) == set()


def test_modules_are_named_by_the_vocabulary():
    names = {part.removesuffix(".py") for module in MODULES for part in module.relative_to(PACKAGE).parts}
    assert BANNED_MODULES & names == set()


def test_sentences_are_plain():
    assert {str(module.relative_to(ROOT)): found for module in MODULES if (found := banned_phrases(parsed(module)))} == {}


def test_a_banned_phrase_is_seen():
    assert banned_phrases(ast.parse('"""There are\\nnone that fit."""')) == ["are none that"]


# Packages that the source needs and no `import` in it names.
NAMED_ELSEWHERE = {
    "pandas": "pyspark imports it in the workers that run mapInArrow",
}
NOT_DECLARED = {
    "compression": "Python's own from version 3.14 on; backports-zstd is the same for older ones",
    "gssapi": "it compiles against the system's Kerberos library, so users who need it install it themselves",
}


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {normalized(re.split(r"[<>=;\[ ]", requirement)[0]) for requirements in lists for requirement in requirements}


def normalized(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def imported() -> set[str]:
    """The top-level packages of others that the source imports."""
    own = {*sys.stdlib_module_names, PACKAGE.name}
    found: set[str] = set()
    for module in MODULES:
        for node in ast.walk(parsed(module)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).split(".")[0])
    return found - own


def test_every_import_is_declared_and_every_dependency_is_used():
    provided = packages_distributions()
    used = set[str]()
    for name in imported():
        of = {normalized(distribution) for distribution in provided.get(name, [name])}
        used |= of & declared() or of  # several distributions may share a package
    assert used - declared() == NOT_DECLARED.keys()
    assert declared() - used == NAMED_ELSEWHERE.keys()

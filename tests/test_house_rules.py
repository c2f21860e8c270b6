"""Rules for the text of files: comments that silence a tool say why, and no file names one person's machine."""

import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "src" / "lineage_bridge").rglob("*.py"))

SILENCING = re.compile(r"#\s*(noqa|type:\s*ignore|mypy:\s*ignore|pragma:|ruff:|fmt:)")
WITH_A_REASON = re.compile(r"#\s*((ruff: )?noqa: [A-Z]+\d+(, ?[A-Z]+\d+)*|type: ignore\[[a-z, -]+\]|fmt: skip)\s+(- |# )?\S+ \S+")


def silenced_without_reason(path: Path) -> list[str]:
    """The comments that silence a tool without naming a rule and a reason on the same line."""
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


# Folders of one person's machine, and the registries that one machine downloads packages from.
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


def test_no_file_names_one_machine():
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


def absent_paths(text: str) -> list[str]:
    """What a page names like a path of this project, in backquotes or as a link, and is not there."""
    package = ROOT / "src" / "lineage_bridge"
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|/)|(?:[a-z_]+/)+[a-z_]+)`", text)
    linked = re.findall(r"\]\(((?!https?:)[^)#]+)\)", text)
    local = {name for name in (*named, *linked) if not (ROOT / name).exists() and not any(package.glob(f"**/{name}"))}
    return sorted(local)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("`graph/relations.py`, `lineage/` and [docs](docs/semantics.md)", []),
        ("`graph/nowhere.py`, `nowhere/` and [docs](docs/nowhere.md)", ["docs/nowhere.md", "graph/nowhere.py", "nowhere/"]),
    ],
)
def test_an_absent_path_is_seen(text, absent):
    assert absent_paths(text) == absent


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_pages_name_files_that_are_there(page):
    # The data folder's log is the one path that is no file of the project.
    assert [path for path in absent_paths((ROOT / page).read_text(encoding="utf-8")) if path != "log/"] == []

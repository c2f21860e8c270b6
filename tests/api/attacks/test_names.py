"""Names that mean something to SQL, to full-text search, to shells, globs, templates or paths: they are names, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import anyio
import httpx
import pytest
from tests.api.support import URL, Server, running
from tests.events import dataset, run_event

SQL = (
    "'",
    '"',
    "`",
    "' OR '1'='1",
    "'; DROP TABLE node; --",
    "x' UNION SELECT key FROM secret --",
    "--",
    "/*",
    "%",
    "_",
    "\\",
    ";",
    "0x41",
)
SEARCH = ("*", "^a", '"a', "a AND", "OR NOT", "NEAR(a b)", "col:a", "(", ")", "-a", "{", "a+b")
GLOBS = ("?", "[", "]", "[a-z]", "[!a]", "[]]", "{a,b}", "**")
TEXTS = ("$1", "${env:HOME}", "{{7*7}}", "%s", "%n", "NULL", "null", "NaN", "-1", "1e309", "#", "@", "<script>", "&amp;")
PATHS = ("..", "../..", "..\\..", "//", "/", "a;b", "%2e%2e", "%00", "~")
UNICODE = ("\x01", "a\x00b", "\r\nSet-Cookie: a=b", "\u202e", "\uffff", "\U0001d54f", "\u0130", "\ufb01", "e\u0301", " ", "\t", "x" * 3000)
TRICKS: Final = (*SQL, *SEARCH, *GLOBS, *TEXTS, *PATHS, *UNICODE)
NAMES: Final = tuple(name for name in TRICKS if name.strip() and "\x00" not in name and "Cookie" not in name)
"""Those that a dataset can have, to the letter."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Server]:
    """A server whose graph has a dataset and a job of each name, each in a namespace of that name."""
    with running(tmp_path_factory.mktemp("names"), empty_store) as server:
        server.send(
            *(
                run_event(job=name, run=f"0198c0de-0000-7000-8000-{number:012d}", outputs=[dataset(name, namespace=name)])
                for number, name in enumerate(NAMES)
            ),
            run_event(inputs=[dataset("innocent")], outputs=[dataset("b")]),
        )
        server.client = server.client_of(not_found_wait_s=0.0)
        yield server


def questions(document: Any) -> Iterator[tuple[str, list[str], list[str]]]:
    """Path, path parameters and query parameters of each question that takes a text."""
    for path, calls in document["paths"].items():
        parameters = calls.get("get", {}).get("parameters", [])
        texts = [found for found in parameters if '"string"' in (kind := json.dumps(found["schema"])) and "enum" not in kind]
        names = {place: [found["name"] for found in texts if found["in"] == place] for place in ("path", "query")}
        query = [name for name in names["query"] if name not in ("min_position", "wait")]
        if names["path"] or query:
            yield path, names["path"], query


async def answered(server: Server, calls: list[tuple[str, list[str], list[str], str]]) -> list[httpx.Response]:
    """The answers to questions with a name in each place."""
    transport = httpx.ASGITransport(server.client.app, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
        found = []
        for path, in_path, in_query, trick in calls:
            address = path
            for name in in_path:
                address = address.replace(f"{{{name}}}", quote(trick, safe="").replace(".", "%2E"))
            found.append(await client.get(address, params=dict.fromkeys(in_query, trick)))
        return found


def is_harmless(answer: httpx.Response) -> bool:
    """Whether an answer is one that any name may get."""
    if answer.status_code == 307:  # a slash at the end of a path
        return answer.headers["location"].startswith(f"{URL}/api/v1/")
    return answer.status_code in (200, 404, 409, 410, 422) and "set-cookie" not in answer.headers


def test_no_name_is_more_than_a_name_to_any_question(server: Server) -> None:
    asked = list(questions(server.client.get("/openapi.json").json()))
    assert len(asked) > 30
    before = server.client.get("/api/v1/lineage/datasets", params={"limit": 1000}).json()
    calls = [(path, in_path, in_query, trick) for path, in_path, in_query in asked for trick in TRICKS]
    wrong = [
        (*call, answer.status_code, answer.text[:200])
        for call, answer in zip(calls, anyio.run(answered, server, calls), strict=True)
        if not is_harmless(answer)
    ]
    assert wrong == []
    assert server.client.get("/api/v1/lineage/datasets", params={"limit": 1000}).json() == before


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_each_name_finds_what_has_it_and_nothing_else(server: Server, name: str) -> None:
    named: dict[str, Any] = {"namespace": name, "name": name}
    assert server.ask("/lineage/datasets/detail", **named)["name"] == name
    if not set(name) & set("*?["):
        assert [found["name"] for found in server.ask("/lineage/datasets", namespace=name)] == [name]
    found = server.ask("/graph/neighbourhood", **named)
    assert "innocent" not in json.dumps(found)
    assert server.client.get("/api/v1/search", params={"q": name}).status_code in (200, 422)

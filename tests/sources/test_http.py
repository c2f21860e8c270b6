"""The client of other systems: what it does with every kind of answer, and that it tells no secret."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import tenacity

from lineage_bridge.errors import BusyError, ConfigError, ForbiddenError, MissingError, SourceError, UnauthenticatedError, UnreachableError
from lineage_bridge.sources.common.http import TRIES, TRIES_WHEN_LIMITED, HttpClient, TlsContext
from lineage_bridge.sources.common.settings import HttpSettings, SecretReference, Secrets, reveal


class System:
    """An HTTP server that answers each path with the next of a list of answers: (status, headers, body)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, list[tuple[int, dict[str, str], bytes]]] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []


@pytest.fixture
def system() -> Iterator[System]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append((self.command, self.path, dict(self.headers)))
            script = made.answers[self.path.partition("?")[0]]
            status, headers, body = script.pop(0) if len(script) > 1 else script[0]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = System(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


@pytest.fixture
def http(system: System, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpClient]:
    monkeypatch.setattr(tenacity.nap, "sleep", lambda _: None)
    client = HttpClient(HttpSettings(url=system.url, timeout_s=2))
    yield client
    client.close()


OK: tuple[int, dict[str, str], bytes] = (200, {}, b'{"fine": true}')


@pytest.mark.parametrize(
    ("answer", "error", "asked"),
    [
        ((401, {}, b'{"message": "who are you"}'), UnauthenticatedError, 1),
        ((403, {}, b""), ForbiddenError, 1),
        ((404, {}, b'{"error_code": 40401, "message": "Subject not found"}'), MissingError, 1),
        ((409, {}, b'{"message": "rebalancing"}'), BusyError, TRIES),
        ((429, {"Retry-After": "0"}, b""), BusyError, TRIES_WHEN_LIMITED),
        ((429, {}, b""), BusyError, TRIES),
        ((500, {}, b"<html>"), BusyError, TRIES),
        ((400, {}, b'{"errors": ["bad"]}'), SourceError, 1),
        ((200, {}, b"<html>a proxy's page</html>"), SourceError, 1),
        ((200, {"Content-Length": "100"}, b'{"half": '), UnreachableError, TRIES),
    ],
)
def test_what_is_no_answer_is_an_error_of_its_kind(system: System, http: HttpClient, answer, error, asked) -> None:
    system.answers["/x"] = [answer]
    with pytest.raises(error) as raised:
        http.get("/x")
    assert type(raised.value) is error
    assert "GET /x of 127.0.0.1" in str(raised.value)
    assert (len(system.asked), http.requests) == (asked, asked)


def test_what_passes_is_tried_again(system: System, http: HttpClient) -> None:
    system.answers["/x"] = [(503, {}, b""), (409, {}, b""), OK]
    assert http.get("/x", expand=["info", "status"]) == {"fine": True}
    assert system.asked[-1][1] == "/x?expand=info&expand=status"


@pytest.mark.usefixtures("http")
def test_a_system_that_is_not_there_is_unreachable() -> None:
    lost = HttpClient(HttpSettings(url="http://127.0.0.1:9", timeout_s=1))
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:9 "):
        lost.get("/x")


def test_the_client_names_itself(system: System, http: HttpClient) -> None:
    system.answers["/x"] = [OK]
    http.get("/x")
    assert system.asked[0][2]["User-Agent"].startswith("LineageBridge/")


def test_many_calls_give_many_answers_in_order_and_errors_where_they_fell(system: System, http: HttpClient) -> None:
    system.answers.update({f"/{number}": [(200, {}, json.dumps(number).encode())] for number in range(20)})
    system.answers["/7"] = [(404, {}, b"")]
    found = http.map(lambda number: http.get(f"/{number}"), range(20))
    assert isinstance(found.pop(7), MissingError)
    assert found == [number for number in range(20) if number != 7]


def page(*data: int, following: str = "") -> tuple[int, dict[str, str], bytes]:
    return (200, {}, json.dumps({"data": data, "metadata": {"next": following}}).encode())


def test_pages_are_followed_to_the_last(system: System, http: HttpClient) -> None:
    system.answers["/x"] = [page(1, following=f"{system.url}/x?page_token=a"), page(2, following="/x?page_token=b"), page(3)]
    assert [item["data"] for item in http.pages("/x", page_size=2)] == [[1], [2], [3]]
    assert [path for _, path, _ in system.asked] == ["/x?page_size=2", "/x?page_size=2&page_token=a", "/x?page_size=2&page_token=b"]


def test_of_the_next_address_only_the_token_is_used(system: System, http: HttpClient) -> None:
    elsewhere = "https://api.elsewhere.example/other/path?environment=env-2&page_token=a%3D"
    system.answers["/x"] = [page(1, following=elsewhere), page(2)]
    assert [item["data"] for item in http.pages("/x", environment="env-1")] == [[1], [2]]
    assert [path for _, path, _ in system.asked] == ["/x?environment=env-1", "/x?environment=env-1&page_token=a%3D"]


@pytest.mark.parametrize(("following", "message"), [("{}/x?page_token=a", "returned the same page again"), ("{}/x", "has no `page_token`")])
def test_pages_in_a_circle_or_without_a_token_are_an_error(system: System, http: HttpClient, following: str, message: str) -> None:
    system.answers["/x"] = [page(1, following=following.format(system.url))]
    with pytest.raises(SourceError, match=message):
        list(http.pages("/x"))
    assert len(system.asked) <= 2


def test_a_page_that_fails_fails_the_listing(system: System, http: HttpClient) -> None:
    system.answers["/x"] = [page(1, following="/x?page_token=a"), (403, {}, b"")]
    with pytest.raises(ForbiddenError):
        list(http.pages("/x"))


def test_what_has_not_changed_is_not_sent_again(system: System, http: HttpClient) -> None:
    system.answers["/x"] = [(200, {"ETag": '"1"'}, b'{"fine": true}'), (304, {}, b""), (200, {"ETag": '"2"'}, b"[]")]
    assert [http.get("/x"), http.get("/x"), http.get("/x")] == [{"fine": True}, {"fine": True}, []]
    assert [headers.get("If-None-Match") for _, _, headers in system.asked] == [None, '"1"', '"1"']


def test_callers_that_share_a_limiter_wait_for_what_the_other_received(system: System, http: HttpClient) -> None:
    other = HttpClient(http.settings, limiter=http.limiter)
    system.answers["/x"] = [(200, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "600"}, b"{}"), OK]
    http.get("/x")
    http.limiter.stop.set()
    with pytest.raises(SourceError, match="stopped"):
        other.get("/x")
    assert len(system.asked) == 1


def test_credentials_are_sent_and_never_shown(system: System, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    (tmp_path / "password").write_text("hunter3\n")
    system.answers["/x"] = [(401, {}, b'{"message": "no"}')]
    for settings, header in (
        ({"token": "${env:TOKEN}"}, "Bearer hunter2"),
        ({"username": "u", "password": f"${{file:{tmp_path}/password}}"}, "Basic dTpodW50ZXIz"),
    ):
        client = HttpClient(HttpSettings.model_validate({"url": system.url, **settings}))
        with pytest.raises(ForbiddenError) as refused:
            client.get("/x")
        client.close()
        assert system.asked[-1][2]["Authorization"] == header
        assert "hunter" not in str(refused.value)
        assert "hunter" not in repr(client.settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"url": "ftp://x"},
        {"url": "http://user:secret@host"},
        {"url": "http://x", "password": "secret"},
        {"url": "http://x", "username": "u", "password": "${env:A}", "token": "${env:B}"},
    ],
)
def test_settings_that_cannot_be_are_refused(settings) -> None:
    with pytest.raises(ValueError, match=r"\S") as refused:
        HttpSettings(**settings)
    assert "address" in str(refused.value) or "secret" in str(refused.value) or "either" in str(refused.value)


def test_a_secret_that_cannot_be_had_says_how(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.delenv("NONE_SUCH", raising=False)
    for reference, hint in (
        ("${env:NONE_SUCH}", "set it"),
        (f"${{file:{tmp_path}/none}}", "contain the secret and nothing else"),
        ("literal", "write"),
    ):
        with pytest.raises(ConfigError) as refused:
            reveal(reference)
        assert hint in refused.value.hint


def test_a_secret_of_the_keyring() -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class Ring(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return {("connect", "me"): "hunter4"}.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        assert reveal("${keyring:connect/me}") == "hunter4"
        with pytest.raises(ConfigError, match="no entry"):
            reveal("${keyring:connect/you}")
    finally:
        keyring.set_keyring(before)


def test_who_shares_trust_reads_it_once():
    trust = TlsContext(HttpSettings(url="https://example.com"))
    assert trust.context() is trust.context()
    with pytest.raises(SourceError, match="a TLS file cannot be used"):
        TlsContext(HttpSettings(url="https://example.com", ca_file="/nowhere.pem")).context()


# answers that are too much


def test_an_answer_that_is_too_long_is_an_error_of_the_source(system: System, http: HttpClient) -> None:
    system.answers["/long"] = [(200, {}, b'["' + b"x" * 70_000_000 + b'"]')]
    with pytest.raises(SourceError, match="answered more than 64 MiB"):
        http.get("/long")


def test_an_answer_that_is_too_long_once_unpacked_is_an_error_of_the_source(system: System, http: HttpClient) -> None:
    packed = gzip.compress(b'["' + b"x" * 80_000_000 + b'"]')
    assert len(packed) < 100_000
    system.answers["/packed"] = [(200, {"Content-Encoding": "gzip"}, packed)]
    with pytest.raises(SourceError, match="answered more than 64 MiB"):
        http.get("/packed")


def test_a_packed_answer_is_read(system: System, http: HttpClient) -> None:
    system.answers["/packed"] = [(200, {"Content-Encoding": "gzip"}, gzip.compress(b'{"fine": true}'))]
    assert http.get("/packed") == {"fine": True}


@pytest.mark.parametrize("status", [200, 500, 403])
def test_json_that_is_nested_too_deeply_is_an_error_of_the_source(system: System, http: HttpClient, status: int) -> None:
    system.answers["/deep"] = [(status, {}, b"[" * 100_000)]
    with pytest.raises(SourceError):
        http.get("/deep")


@pytest.mark.parametrize(
    "url", ["http://h:1/\r\nX: y", "http://h\r\n:1", "http://h:1/a b", "http://h:port", "http://h\x7f", "http://h:99999"]
)
def test_an_address_with_control_characters_or_without_a_port_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        HttpSettings(url=url)


# where secrets are


def test_a_secret_file_is_read_only_below_the_folders_of_secrets(tmp_path: Path) -> None:
    allowed, elsewhere = tmp_path / "secrets", tmp_path / "elsewhere"
    allowed.mkdir()
    (allowed / "key").write_text("hush\n")
    elsewhere.write_text("private")
    (allowed / "link").symlink_to(elsewhere)
    secrets = Secrets(folders=(allowed,))
    assert reveal(SecretReference(f"${{file:{allowed}/key}}", secrets)) == "hush"
    for path in (elsewhere, allowed / "link", allowed / ".." / "elsewhere", "/etc/passwd"):
        with pytest.raises(ConfigError, match="not below a folder of the setting secret_folders") as refused:
            reveal(SecretReference(f"${{file:{path}}}", secrets))
        assert "private" not in str(refused.value)


def test_a_variable_is_read_only_with_the_prefix_of_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OBSERVED_KEY", "hush")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "private")
    secrets = Secrets(variables="OBSERVED_")
    assert reveal(SecretReference("${env:OBSERVED_KEY}", secrets)) == "hush"
    with pytest.raises(ConfigError, match="does not begin with 'OBSERVED_'"):
        reveal(SecretReference("${env:AWS_SECRET_ACCESS_KEY}", secrets))

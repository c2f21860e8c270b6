"""Paths and hosts that are written in other ways lead to the same place, or nowhere."""

import re

import httpx
import pytest
from tests.api.attacks.conftest import Attacked
from tests.api.attacks.raw import connected, until_closed

SAME = ("/api/v1/keys", "/api/v1/%6beys", "/%61pi/v1/keys", "/api/v1/keys?x=/../..", "http://localhost/api/v1/keys")
"""Paths of what the key may not do."""
OTHERS = (
    *(
        "/api/v1//keys",
        "//api/v1/keys",
        "/api/v1/keys;x",
        "/api/v1;x/keys",
        "/api/v1/keys%2f",
        "/api/v1/keys%00",
        "/api/v1/keys/.",
        "/API/V1/KEYS",
    ),
    *("/api/v1/health/../keys", "/api/v1/health/%2e%2e/keys", "/api/v1/health/..%2fkeys", "/api/v1/health;/../keys", "/api/v1/./keys"),
    *(
        "/api/v1/%2e/keys",
        "/api/v1/%c0%ae%c0%ae/v1/keys",
        "/api/v1/%252e%252e/v1/keys",
        "/api/v1/\\keys",
        "/api%5cv1%5ckeys",
        "/api/v1/keys%20",
    ),
    *("/api/v1/%u006beys", "/api/v1/keys%0d%0aX-A:%20b", "/docs/../api/v1/keys", "/spec/facets/../../api/v1/keys"),
)
FILES = (
    *("/docs/files/../../../etc/passwd", "/docs/files/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/docs/files/..%2f..%2f..%2fetc%2fpasswd"),
    *(
        "/docs/files//etc/passwd",
        "/docs/files/%2fetc%2fpasswd",
        "/docs/files/..%5c..%5cetc%5cpasswd",
        "/docs/files/%c0%ae%c0%ae/etc/passwd",
    ),
    *(
        "/spec/facets/../__init__.py",
        "/spec/facets/%2e%2e/__init__.py",
        "/spec/facets/..%2f__init__.py",
        "/docs/files/swagger-ui.css%00.js",
    ),
)


def asked(attacked: Attacked, target: str, key: bool = True, host: str = "localhost") -> tuple[int, bytes]:
    """Status and whole text of the answer to a target that no client has changed."""
    credentials = f"Authorization: Bearer {attacked.key}\r\n" if key else ""
    text = until_closed(connected(attacked, f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{credentials}Connection: close\r\n\r\n".encode()))
    return int(re.match(rb"HTTP/1\.1 (\d{3}) ", text).group(1)), text  # type: ignore[union-attr]  # an answer has a status


@pytest.mark.parametrize("target", SAME)
def test_what_is_not_allowed_is_not_allowed_by_another_name(attacked: Attacked, target: str) -> None:
    status, text = asked(attacked, target)
    assert (status, b'"missing_scope"' in text) == (403, True)
    assert asked(attacked, target, key=False)[0] == 401


@pytest.mark.parametrize("target", [*OTHERS, *FILES])
def test_other_paths_lead_nowhere(attacked: Attacked, target: str) -> None:
    status, text = asked(attacked, target)
    assert status in (307, 400, 403, 404, 405), text
    assert b"root:" not in text
    assert b"\r\nX-A:" not in text
    assert asked(attacked, target, key=False)[0] == 401


@pytest.mark.parametrize("target", ["http://evil.example/api/v1/health", "http://evil.example:80/api/v1/health?x", "/api/v1/health"])
def test_the_host_of_a_target_counts_before_the_header(attacked: Attacked, target: str) -> None:
    """As DNS rebinding would address the server."""
    status, text = asked(attacked, target, key=False, host="localhost" if target.startswith("http") else "evil.example")
    assert (status, b'"foreign_host"' in text) == (403, True)
    assert asked(attacked, "http://localhost/api/v1/health", key=False, host="evil.example")[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://localhost@evil.example"])
def test_pages_of_others_do_not_write_with_a_key_either(attacked: Attacked, origin: str) -> None:
    headers = {"authorization": f"Bearer {attacked.key}", "origin": origin}
    answer = httpx.post(f"{attacked.url}/api/v1/lineage", content=b"{}", headers=headers, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_origin")

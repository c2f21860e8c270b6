"""What a proxy says about its clients, and which of it counts."""

import pytest
from starlette.datastructures import Headers

from lineage_bridge.access.forwarding import Forwarded, forwarded
from lineage_bridge.access.networks import Networks

PROXIES = Networks(["10.0.0.5", "10.1.0.0/16", "2001:db8::5"])


def stated(*headers: tuple[str, str]) -> Forwarded:
    return forwarded(Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in headers]), PROXIES)


@pytest.mark.parametrize(
    ("text", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1, 10.1.2.3", "192.0.2.1"),
        ("203.0.113.9, 192.0.2.1, 10.1.2.3, 10.0.0.5", "192.0.2.1"),
        ("10.0.0.5", "10.0.0.5"),
        ("10.1.0.1, 10.0.0.5", "10.1.0.1"),
        ("nonsense, 10.1.2.3", "10.1.2.3"),
        ("192.0.2.1, nonsense", ""),
        ("", ""),
        ("[2001:db8::9]:4711", "2001:db8::9"),
        ("2001:db8::9", "2001:db8::9"),
        ("192.0.2.1:4711, 2001:db8::5", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("192.0.2.1, " * 50 + "203.0.113.9", "203.0.113.9"),
        ("192.0.2.1" + ", 10.1.2.3" * 30, "10.1.2.3"),
    ],
)
def test_the_client_is_the_last_that_is_no_proxy(text: str, client: str) -> None:
    assert stated(("x-forwarded-for", text)).client == client


def test_a_header_that_comes_twice_is_one_list() -> None:
    assert stated(("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "192.0.2.1")).client == "192.0.2.1"
    assert stated(("x-forwarded-proto", "https"), ("x-forwarded-proto", "http")).scheme == "http"


@pytest.mark.parametrize(
    ("header", "text", "member", "value"),
    [
        ("x-forwarded-proto", "https", "scheme", "https"),
        ("x-forwarded-proto", "http, HTTPS", "scheme", "https"),
        ("x-forwarded-proto", "javascript", "scheme", ""),
        ("x-forwarded-host", "a.example:8443", "host", "a.example:8443"),
        ("x-forwarded-host", "evil.example, [2001:db8::1]:1", "host", "[2001:db8::1]:1"),
        ("x-forwarded-host", "a.example/path", "host", ""),
        ("x-forwarded-host", "a.example\r\nX: y", "host", ""),
        ("x-forwarded-host", "a@b", "host", ""),
        ("x-forwarded-prefix", "/lineage/", "prefix", "/lineage"),
        ("x-forwarded-prefix", "/", "prefix", ""),
        ("x-forwarded-prefix", "//evil.example", "prefix", ""),
        ("x-forwarded-prefix", "/../x", "prefix", ""),
        ("x-forwarded-prefix", "/api", "prefix", ""),
        ("x-forwarded-prefix", '/"><script>', "prefix", ""),
        ("forwarded", "for=192.0.2.1;proto=https;host=a.example", "client", ""),
    ],
)
def test_only_values_of_their_form_count(header: str, text: str, member: str, value: str) -> None:
    assert getattr(stated((header, text)), member) == value

"""What the head of a request must be, whatever the parser before it lets pass."""

import pytest

from lineage_bridge.api.connections.heads import Header, check_head, origin_form

HOST = (b"host", b"h:80")


@pytest.mark.parametrize(
    ("target", "host", "path"),
    [
        (b"/a//b?c=/%2e%2e", b"h:80", b"/a//b?c=/%2e%2e"),
        (b"//evil/x", b"h:80", b"//evil/x"),
        (b"http://evil.example:81/a?b", b"evil.example:81", b"/a?b"),
        (b"HTTPS://[::1]", b"[::1]", b"/"),
        (b"http://evil?a=b", b"evil", b"/?a=b"),
    ],
)
def test_the_authority_of_a_target_is_its_host(target: bytes, host: bytes, path: bytes) -> None:
    found, headers = origin_form(b"GET", target, [HOST, (b"a", b"b")])
    assert (found, dict(headers)) == (path, {b"host": host, b"a": b"b"})
    assert len(headers) == 2


@pytest.mark.parametrize(
    "target",
    [
        b"",
        b"*",
        b"x",
        b"file:///x",
        b"gopher://h/",
        b"h:443",
        b"http://",
        b"http:///x",
        b"http://u@h/",
        b"http://a,b/",
        b"http://[::1",
        b"/x#y",
    ]
    + [b"/" + bytes([code]) for code in (0, 9, 10, 13, 32, 127, 128, 255)],
)
def test_what_is_no_target_is_refused(target: bytes) -> None:
    with pytest.raises(ValueError, match=r"target|authority|IPv6"):
        origin_form(b"GET", target, [HOST])
    assert origin_form(b"OPTIONS", b"*", [HOST]) == (b"/", [HOST])


CHUNKED, FIVE = (b"transfer-encoding", b"chunked"), (b"content-length", b"5")


@pytest.mark.parametrize(
    ("version", "headers", "problem"),
    [
        ("0.9", [HOST], "HTTP/0.9"),
        ("2.0", [HOST], "HTTP/2.0"),
        ("1.1", [], "the request has 0 Host headers"),
        ("1.1", [HOST, HOST], "the request has 2 Host headers"),
        *(
            ("1.0", [(b"host", value)], "Host is not valid")
            for value in (b"", b"a,b", b"a/b", b"u@a", b"a b", b"a:b", b"[::1", b"a:123456")
        ),
        ("1.1", [HOST, FIVE, FIVE], "Content-Length"),
        *(
            ("1.1", [HOST, (b"content-length", value)], "Content-Length")
            for value in (b"", b"+5", b"-1", b"0x5", b"5,5", b"5 5", b"9" * 19)
        ),
        ("1.1", [HOST, CHUNKED, FIVE], "Transfer-Encoding"),
        ("1.1", [HOST, CHUNKED, CHUNKED], "Transfer-Encoding"),
        ("1.0", [HOST, CHUNKED], "Transfer-Encoding"),
        *(
            ("1.1", [HOST, (b"transfer-encoding", value)], "Transfer-Encoding")
            for value in (
                b"",
                b"identity",
                b"xchunked",
                b"chunked, identity",
                b"identity, chunked",
                b'"chunked"',
                b"\x0bchunked",
                b",chunked",
            )
        ),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(version: str, headers: list[Header], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_head(version, headers)


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        ("1.1", [HOST]),
        ("1.1", [(b"host", b"[::1]:8000"), FIVE]),
        ("1.1", [(b"host", b"my_host"), (b"transfer-encoding", b"Chunked")]),
        ("1.0", []),
    ],
)
def test_an_ordinary_head_is_not(version: str, headers: list[Header]) -> None:
    check_head(version, headers)

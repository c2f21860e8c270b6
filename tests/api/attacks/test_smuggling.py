"""Requests that two programs could read in different ways: each is refused, its connection is closed, and nothing behind it is served.

The forms are those that others collected: Http11Probe (its suites Smuggling, Compliance, Malformed input and Normalization), and the
permutations of PortSwigger's HTTP Request Smuggler. Those that both take for valid are in LENIENT.
"""

from concurrent.futures import ThreadPoolExecutor

from tests.api.attacks.conftest import Attacked
from tests.api.attacks.raw import answered
from tests.events import run_event

LINE = "POST /api/v1/lineage HTTP/1.1"
HOST = "Host: localhost"
TE, CL = "Transfer-Encoding: chunked", "Content-Length: 5"
HEADERS = {
    "a length and chunks": f"{CL}\r\n{TE}",
    "chunks and a length": f"{TE}\r\n{CL}",
    "two lengths": f"{CL}\r\nContent-Length: 0",
    "two equal lengths": f"{CL}\r\n{CL}",
    "a list of lengths": "Content-Length: 5, 10",
    "a list of equal lengths": "Content-Length: 5, 5",
    "a positive length": "Content-Length: +5",
    "a negative length": "Content-Length: -1",
    "a negative zero": "Content-Length: -0",
    "a hexadecimal length": "Content-Length: 0x5",
    "an octal length": "Content-Length: 0o5",
    "an underscore in a length": "Content-Length: 1_0",
    "a space in a length": "Content-Length: 1 0",
    "a decimal point": "Content-Length: 5.0",
    "no digits": "Content-Length: ",
    "a length of words": "Content-Length: five",
    "an overflow": "Content-Length: 18446744073709551621",
    "a huge length": f"Content-Length: {'9' * 40}",
    "a folded length": "Content-Length:\r\n 5",
    "a space before a length's colon": "Content-Length : 5",
    "a tab in a name": "Content\t-Length: 5",
    "folded chunks": "Transfer-Encoding:\r\n chunked",
    "folded by a tab": "Transfer-Encoding:\r\n\tchunked",
    "in the fold of another": "Foo: bar\r\n Transfer-Encoding: chunked",
    "in the fold of another by a tab": "Foo: bar\r\n\tTransfer-Encoding: chunked",
    "another folded": f"{CL}\r\nX: a\r\n b",
    "a space before the colon": "Transfer-Encoding : chunked",
    "a word before the colon": "Transfer-Encoding x: chunked",
    "no colon": "Transfer-Encoding",
    "an empty name": ": chunked",
    "brackets in a name": "[Transfer-Encoding]: chunked",
    "a space in a name": "Transfer Encoding: chunked",
    "a backslash in a name": "Transfer\\Encoding: chunked",
    "an accent in a name": "Transf\x82r-Encoding: chunked",
    "unknown coding": "Transfer-Encoding: xchunked",
    "no coding": "Transfer-Encoding: identity",
    "half a coding": "Transfer-Encoding: chunk",
    "chunks first": "Transfer-Encoding: chunked, gzip",
    "chunks and none": "Transfer-Encoding: chunked, identity",
    "none and chunks": "Transfer-Encoding: identity, chunked",
    "chunks in the middle": "Transfer-Encoding: identity, chunked, identity",
    "chunks twice": "Transfer-Encoding: chunked, chunked",
    "two headers": f"{TE}\r\n{TE}",
    "a second header with none": f"{TE}\r\nTransfer-Encoding: identity",
    "a first header with none": f"Transfer-Encoding: identity\r\n{TE}",
    "quotes": 'Transfer-Encoding: "chunked"',
    "apostrophes": "Transfer-Encoding: 'chunked'",
    "an empty coding": "Transfer-Encoding: ",
    "an empty coding before": "Transfer-Encoding: , chunked",
    "an empty coding behind": "Transfer-Encoding: chunked,",
    "a parameter": "Transfer-Encoding: chunked;q=1",
    "an accent in a value": "Transfer-Encoding: ch\x96nked",
    **{f"byte {code} before a value": f"Transfer-Encoding: {chr(code)}chunked" for code in (0, 11, 12, 13, 127, 160, 255)},
    **{f"byte {code} behind a value": f"Transfer-Encoding: chunked{chr(code)}" for code in (0, 9, 11, 12, 13, 127)},
    "a bare line end": f"X: y\n{TE}",
    "a bare return": f"X: y\r{TE}",
    "a return before a name": f"Foo: bar\r\n\r{TE}",
    "a return in a name": "Tra\rnsfer-Encoding: chunked",
    "a return in a value": f"{CL}\r\nX: a\rb",
    "a zero in a value": f"{CL}\r\nX: a\0b",
    "a control character in a value": f"{CL}\r\nX: a\x01b",
    "a hidden empty line": f"Foo: barn\n\n{TE}",
    "a second host": "Host: elsewhere",
    "the same host again": HOST,
    "behind an offer to upgrade": f"Connection: Upgrade\r\nUpgrade: h2c\r\n{TE}\r\n{CL}",
    "two codings behind an offer": f"Connection: Upgrade\r\nUpgrade: h2c\r\n{TE}\r\nTransfer-Encoding: identity",
}
LINES = {
    "no host": "POST /api/v1/lineage HTTP/1.1",
    "an empty host": "POST /api/v1/lineage HTTP/1.1\r\nHost: ",
    "two names": "POST /api/v1/lineage HTTP/1.1\r\nHost: localhost, elsewhere",
    "a user in the host": "POST /api/v1/lineage HTTP/1.1\r\nHost: u@localhost",
    "a path in the host": "POST /api/v1/lineage HTTP/1.1\r\nHost: localhost/x",
    "a space before the headers": f"{LINE}\r\n {HOST}",
    "a return as line end": f"{LINE}\r{HOST}",
    "a line end alone": f"{LINE}\n{HOST}",
    "chunks in HTTP/1.0": f"POST /api/v1/lineage HTTP/1.0\r\n{HOST}\r\n{TE}",
    "HTTP/2": f"POST /api/v1/lineage HTTP/2.0\r\n{HOST}",
    "HTTP/1.2": f"POST /api/v1/lineage HTTP/1.2\r\n{HOST}",
    "HTTP/1": f"POST /api/v1/lineage HTTP/1\r\n{HOST}",
    "HTTP/01.01": f"POST /api/v1/lineage HTTP/01.01\r\n{HOST}",
    "a lower-case version": f"POST /api/v1/lineage http/1.1\r\n{HOST}",
    "no version": "GET /api/v1/health",
    "tabs in the line": f"POST\t/api/v1/lineage\tHTTP/1.1\r\n{HOST}",
    "a fragment": f"POST /api/v1/lineage#x HTTP/1.1\r\n{HOST}",
    "a space in the path": f"POST /api/v1/ lineage HTTP/1.1\r\n{HOST}",
    "a zero in the path": f"POST /api/v1/lineage\0 HTTP/1.1\r\n{HOST}",
    "an accent in the path": f"POST /api/v1/lineag\xe9 HTTP/1.1\r\n{HOST}",
    "no target": f"POST  HTTP/1.1\r\n{HOST}",
    "a target without a slash": f"POST api/v1/lineage HTTP/1.1\r\n{HOST}",
    "an asterisk": f"GET * HTTP/1.1\r\n{HOST}",
    "a file": f"POST file:///api/v1/lineage HTTP/1.1\r\n{HOST}",
    "a user in the target": f"POST http://u@localhost/api/v1/lineage HTTP/1.1\r\n{HOST}",
    "no authority": f"POST http:///api/v1/lineage HTTP/1.1\r\n{HOST}",
    "a proxy's method": f"CONNECT localhost:443 HTTP/1.1\r\n{HOST}",
    "a method of nobody": f"HACK /api/v1/lineage HTTP/1.1\r\n{HOST}",
    "the preface of HTTP/2": "PRI * HTTP/2.0",
}
CHUNKS = {
    "a hexadecimal prefix": "0x5\r\nhello\r\n0\r\n\r\n",
    "a positive size": "+5\r\nhello\r\n0\r\n\r\n",
    "a negative size": "-5\r\nhello\r\n0\r\n\r\n",
    "an underscore": "1_0\r\nhello\r\n0\r\n\r\n",
    "a space before": " 5\r\nhello\r\n0\r\n\r\n",
    "a space behind": "5 \r\nhello\r\n0\r\n\r\n",
    "no size": "\r\nhello\r\n0\r\n\r\n",
    "an overflow": "10000000000000005\r\nhello\r\n0\r\n\r\n",
    "no number": "G\r\nhello\r\n0\r\n\r\n",
    "more than its size": "5\r\nhelloXX\r\n0\r\n\r\n",
    "no line end behind it": "5\r\nhello0\r\n\r\n",
    "a bare line end": "5\nhello\r\n0\r\n\r\n",
    "a bare return": "5\rhello\r\n0\r\n\r\n",
    "a bare line end behind it": "5\r\nhello\n0\r\n\r\n",
    "bare line ends at the end": "5\r\nhello\r\n0\n\n",
    "an extension without a name": "5;\r\nhello\r\n0\r\n\r\n",
    "an extension with brackets": "5;bad[=x\r\nhello\r\n0\r\n\r\n",
    "a line end in an extension": "5;a\nhello\r\n0\r\n\r\n",
    "a return in an extension": "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "a zero in an extension": "5;a\0b\r\nhello\r\n0\r\n\r\n",
    "a line end in quotes": '5;a="\r\n"\r\nhello\r\n0\r\n\r\n',
    "a length behind it": "5\r\nhello\r\n0\r\nContent-Length: 6\r\n\r\n",
    "chunks behind it": "5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "no header behind it": "5\r\nhello\r\n0\r\nX Y: z\r\n\r\n",
}


def forms(attacked: Attacked) -> dict[str, bytes]:
    """Each form, and another request in its body or behind it, which would be served if the form was read in the other way."""
    key = f"Authorization: Bearer {attacked.key}"
    event = run_event(job="smuggled").decode()
    hidden = f"POST /api/v1/lineage HTTP/1.1\r\n{HOST}\r\n{key}\r\nContent-Length: {len(event)}\r\n\r\n{event}"
    found = {f"header: {name}": f"{LINE}\r\n{HOST}\r\n{key}\r\n{form}\r\n\r\n0\r\n\r\n{hidden}" for name, form in HEADERS.items()}
    found |= {f"line: {name}": f"{form}\r\n{key}\r\n\r\n{hidden}" for name, form in LINES.items()}
    found |= {f"chunk: {name}": f"{LINE}\r\n{HOST}\r\n{key}\r\n{TE}\r\n\r\n{form}{hidden}" for name, form in CHUNKS.items()}
    return {name: text.encode("latin-1") for name, text in found.items()}


def test_each_form_is_refused_and_nothing_behind_it_is_served(attacked: Attacked) -> None:
    asked = forms(attacked)
    with attacked.serving_others(), ThreadPoolExecutor(24) as pool:
        answers = dict(zip(asked, pool.map(lambda sent: answered(attacked, sent), asked.values()), strict=True))
    allowed = ([400], "malformed_request"), ([400], "no_proxy")
    assert {name: answer for name, answer in answers.items() if answer not in allowed} == {}
    assert "smuggled" not in attacked.jobs()


LENIENT = {
    "a name in other letters": "tRANSFER-eNCODING: chunked",
    "a coding in other letters": "Transfer-Encoding: Chunked",
    "no space": "Transfer-Encoding:chunked",
    "two spaces": "Transfer-Encoding:  chunked",
    "named by Connection": f"Connection: Transfer-Encoding\r\n{TE}",
    "an underscore": f"Transfer_Encoding: chunked\r\n{TE}",
    "encoded": f"Transfer-%45ncoding: identity\r\n{TE}",
}


def test_what_every_program_reads_in_one_way_is_accepted(attacked: Attacked) -> None:
    for name, header in LENIENT.items():
        event = run_event(job=f"lenient {name}")
        body = b"%x;ext=1;other\r\n%b\r\n0\r\nX-Behind: 1\r\n\r\n" % (len(event), event)
        sent = attacked.head("/api/v1/lineage", "Connection: close", header) + b"\r\n" + body
        assert answered(attacked, sent) == ([201], ""), name
    assert {f"lenient {name}" for name in LENIENT} <= attacked.jobs()


def test_who_sends_a_request_is_not_said_behind_its_body(attacked: Attacked) -> None:
    event = run_event(job="behind")
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailer = b"0\r\nAuthorization: Bearer %b\r\n\r\n" % attacked.key.encode()
    assert answered(attacked, head + b"%x\r\n%b\r\n" % (len(event), event) + trailer) == ([401], "no_key")
    assert "behind" not in attacked.jobs()

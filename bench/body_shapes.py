"""Bodies that were made to cost much, by what is in them."""

import gzip
from collections.abc import Callable, Mapping
from typing import Final

from lineage_bridge.ingest.payload import Payload

EVENT: Final = (
    b'{"eventType":"START","eventTime":"2026-11-18T00:00:00Z","producer":"p","schemaURL":"s","run":{"runId":'
    b'"0198c0de-0000-7000-8000-000000000001","facets":{"x":%b}},"job":{"namespace":"n","name":"j"}}'
)
"""An event that carries anything in a facet."""


def _repeated(piece: bytes, size: int, between: bytes = b",") -> bytes:
    return between.join([piece] * (size // (len(piece) + len(between))))


def _numbered(form: bytes, size: int, between: bytes = b",") -> bytes:
    return between.join(form % number for number in range(size // (len(form) + len(between) + 4)))


def _inside(value: Callable[[int], bytes]) -> Callable[[int], Payload]:
    """A payload of one event with this value in a facet."""
    return lambda size: Payload(EVENT % value(size))


def _text(piece: bytes) -> Callable[[int], Payload]:
    """A payload of one event with one long string, made of a piece."""
    return _inside(lambda size: b'{"a":"' + _repeated(piece, size, b"") + b'"}')


def _raw(make: Callable[[int], bytes]) -> Callable[[int], Payload]:
    return lambda size: Payload(make(size))


def _events(facet: bytes) -> Callable[[int], Payload]:
    """A payload of many events that carry this, with numbers in it."""

    def make(size: int) -> Payload:
        count = size // (len(EVENT) + len(facet))
        return Payload(b"[" + b",".join(EVENT % facet.replace(b"%d", b"%d" % number) for number in range(count)) + b"]")

    return make


def _datasets(content: Callable[[int], bytes]) -> Callable[[int], Payload]:
    """A payload of one event with these datasets as inputs."""
    return lambda size: Payload((EVENT % b"{}")[:-1] + b',"inputs":[' + content(size) + b"]}")


SHAPES: Final[Mapping[str, Callable[[int], Payload]]] = {
    "secret_array": _inside(lambda size: b'{"password":[' + _repeated(b'"x"', size) + b"]}"),
    "secret_array_distinct": _inside(lambda size: b'{"password":[' + _numbered(b'"x%d"', size) + b"]}"),
    "secret_array_alone": _raw(lambda size: b'{"password":[' + _repeated(b'"x"', size) + b"]}"),
    "secret_numbers": _inside(lambda size: b'{"password":[' + _repeated(b"1", size) + b"]}"),
    "secret_objects": _inside(lambda size: b"[" + _repeated(b'{"password":"x"}', size) + b"]"),
    "secret_pairs": _inside(lambda size: b"[" + _repeated(b'{"name":"password","value":"x"}', size) + b"]"),
    "secret_members": _inside(lambda size: b"{" + _numbered(b'"password%d":"x"', size) + b"}"),
    "secret_options": _inside(lambda size: b"[" + _repeated(b'"--password","x"', size) + b"]"),
    "nested_secret_objects": _inside(lambda size: b'{"password":[' + _repeated(b"{}", size) + b"]}"),
    "secret_in_value": _inside(lambda size: b'{"name":"password","value":[' + _repeated(b'"x"', size) + b"]}"),
    "short_keys": _inside(lambda size: b'{"token":"x",' + _numbered(b'"%d":1', size) + b"}"),
    "same_keys": _inside(lambda size: b'{"token":"x","a":[' + _repeated(b'{"a":1}', size) + b"]}"),
    "suspicious_keys": _inside(lambda size: b"{" + _numbered(b'"token_%d":1', size) + b"}"),
    "names": _inside(lambda size: b'{"token":"x","a":[' + _numbered(b'{"name":"n%d"}', size) + b"]}"),
    "secret_names": _inside(lambda size: b"[" + _numbered(b'{"name":"a?token=%d"}', size) + b"]"),
    "numbers": _inside(lambda size: b'{"token":"x","a":[' + _repeated(b"1", size) + b"]}"),
    "empty_strings": _inside(lambda size: b'{"token":"x","a":[' + _repeated(b'""', size) + b"]}"),
    "suspicious_strings": _inside(lambda size: b"[" + _repeated(b'"p=a:b@c"', size) + b"]"),
    "distinct_suspicious_strings": _inside(lambda size: b"[" + _numbered(b'"token=%d"', size) + b"]"),
    "short_suspicious_strings": _inside(lambda size: b"[" + _numbered(b'"jwt%d"', size) + b"]"),
    "bearers": _inside(lambda size: b"[" + _numbered(b'"bearer a%d"', size) + b"]"),
    "escapes": _inside(lambda size: b'{"a":"' + _repeated(b"\\u0041", size, b"") + b'"}'),
    "escaped_keys": _inside(lambda size: b"{" + _numbered(b'"\\u0070%d":1', size) + b"}"),
    "nul_escapes": _text(b"\\u0000"),
    "nul_escapes_in_array": _inside(lambda size: b"[" + _repeated(b'"\\u0000"', size) + b"]"),
    "surrogates": _text(b"\\ud800"),
    "backslashes": _text(b"\\\\"),
    "quotes": _text(b'\\"'),
    "brackets_open": _raw(lambda size: b"[" * size),
    "brackets_open_secret": _raw(lambda size: b'{"password":' + b"[" * size),
    "brackets_balanced": _raw(lambda size: b"[" * (size // 2) + b"]" * (size // 2)),
    "brackets_in_event": _inside(lambda size: b'{"token":"x","a":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}"),
    "brackets_pairs": _inside(lambda size: b'{"token":"x","a":[' + _repeated(b"[]", size) + b"]}"),
    "objects_deep": _raw(lambda size: b'{"a":' * (size // 5)),
    "deep_100": _inside(lambda size: b"[" + _repeated(b"[" * 90 + b"]" * 90, size) + b"]"),
    "elements_tiny": _raw(lambda size: b"[" + _repeated(b"1", min(size, 18_000)) + b"]"),
    "elements_too_many": _raw(lambda size: b"[" + _repeated(b"1", size) + b"]"),
    "lines_too_many": _raw(lambda size: _repeated(b"1", size, b"\n")),
    "lines_ndjson_too_many": lambda size: Payload(_repeated(b"1", size, b"\n"), ndjson=True),
    "blank_lines": lambda size: Payload(b"\n" * size, ndjson=True),
    "rejected_events": _raw(
        lambda size: b"[" + _repeated(b'{"run":{"runId":1},"job":1,"password":"x","pad":"' + b"y" * 400 + b'"}', size) + b"]"
    ),
    "rejected_small": _raw(lambda size: b"[" + _repeated(b'{"job":{}}', min(size, 110_000)) + b"]"),
    "rejected_loose": _raw(lambda size: b"[" + _repeated(b'{"eventTime":1,"job":{"name":1},"a":"' + b"y" * 200 + b'"}', size) + b"]"),
    "loose_event": _raw(lambda size: b'{"eventTime":1,"inputs":[' + _repeated(b"{}", size) + b"]}"),
    "null_inputs": _raw(lambda size: EVENT[:-1].replace(b"%b", b"{}") + b',"inputs":[' + _repeated(b"null", size) + b"]}"),
    "empty_inputs": _raw(
        lambda size: EVENT[:-1].replace(b"%b", b"{}") + b',"inputs":[' + _repeated(b'{"name":"a","namespace":"b"}', size) + b"]}"
    ),
    "bare_inputs": _raw(
        lambda size: EVENT[:-1].replace(b"%b", b"{}") + b',"inputs":[' + _repeated(b'{"name":"","namespace":""}', size) + b"]}"
    ),
    "null_facets": _raw(lambda size: (EVENT % b"{}").replace(b'"facets":{', b'"facets":{' + _numbered(b'"f%d":null', size) + b",")),
    "many_facets": _raw(lambda size: (EVENT % b"{}").replace(b'"facets":{', b'"facets":{' + _numbered(b'"f%d":{}', size) + b",")),
    "random_bytes": _raw(lambda size: bytes(range(256)) * (size // 256)),
    "binary_token": _raw(lambda size: _repeated(b"token=\xff ", size, b"")),
    "near_passwords": _text(b"password "),
    "near_assignments": _text(b"password= "),
    "assignments": _text(b"password=x "),
    "plain_assignments": _text(b"a=b "),
    "tokens_without_value": _text(b"token: "),
    "sql_literals": _inside(lambda size: b'{"sql":"select ' + _repeated(b"'token=x'", size) + b'"}'),
    "sql_quotes": _inside(lambda size: b'{"sql":"select password ' + _repeated(b"''", size) + b'"}'),
    "sql_calls": _inside(lambda size: b'{"sql":"select ' + _repeated(b"s3('", size, b"") + b'"}'),
    "sql_comments": _inside(lambda size: b'{"sql":"' + _repeated(b"/**/", size, b"") + b' password=x"}'),
    "spread_secrets": _text(b"token=abc1 of what is read here, and of more "),
    "spread_names": _text(b"the token of what is read here, and of more "),
    "spread_columns": _inside(lambda size: b'{"sql":"select ' + _numbered(b"a.token as t%d, b.c as d, sum(e) as f", size) + b' from g"}'),
    "malformed_items": _raw(
        lambda size: (
            EVENT[:-1].replace(b"%b", b"{}")
            + b',"outputs":[{"namespace":"n","name":"t","facets":{"schema":{"fields":['
            + _repeated(b"1", size)
            + b"]}}}]}"
        )
    ),
    "nul_at_the_end": _inside(lambda size: b"[" + _repeated(b"1", size) + b',"\\u0000"]'),
    "query_names": _raw(
        lambda size: (
            (EVENT % b"{}")[:-2]
            + b',"facets":{"sql":{"query":"with a as (select b from c) select '
            + _repeated(b"b", size)
            + b' from a"}}},"inputs":[],"outputs":[{"namespace":"n","name":"t","facets":{"columnLineage":'
            + b'{"fields":{"b":{"inputFields":[{"namespace":"n","name":"a","field":"b"}]}}}}}]}'
        )
    ),
    "urls": _text(b"https://a:b@c "),
    "url_starts": _text(b"https://a:"),
    "ats": _text(b"a:b@"),
    "colons": _text(b"a:@"),
    "begin_keys": _text(b"-----BEGIN PRIVATE KEY-----"),
    "jwts": _text(b"eyJaaaaa."),
    "github_near": _text(b"ghp_aaaaaaaaaaaaaaaaaaa "),
    "access_keys": _text(b"AKIAAAAAAAAAAAAAAAAA "),
    "bearer_text": _text(b"bearer a1b2c3d4 "),
    "xml": _text(b"<password>x</password>"),
    "xml_open": _text(b"<password "),
    "options": _text(b"--password x "),
    "mysql": _text(b"mysql -px "),
    "mysql_near": _text(b"mysql password "),
    "digest": _text(b"digest password "),
    "authorization": _text(b"authorization: "),
    "quoted_assignments": _text(b"password='"),
    "escaped_quotes": _text(b'password=\\\\\\"'),
    "masked": _inside(lambda size: b"[" + _repeated(b'{"password":"********"}', size) + b"]"),
    "masked_text": _text(b"password=******** "),
    "calls": _text(b"set('password','x') "),
    "parameters": _text(b"?token=x&"),
    "identified": _text(b"identified by "),
    "yaml": _text(b"db:\\n  user: me\\n  password: hunter2x\\n"),
    "json_in_text": _text(b'got {\\"password\\": \\"hunter2x\\"} '),
    "json_in_json": _inside(lambda size: b'{"a":"[' + _repeated(b'{\\"password\\":\\"x\\"}', size) + b']"}'),
    "python_in_text": _text(b"got {'password': 'hunter2x'} "),
    "base64": _text(b"cGFzc3dvcmQ9aHVudGVyMng"),
    "base64_tokens": _text(b"token=cGFzc3dvcmQ9aHVudGVyMng= "),
    "one_character": _inside(lambda size: b'{"a":"token=' + b"x" * size + b'"}'),
    "equals_signs": _inside(lambda size: b'{"a":"token' + b"=" * size + b'"}'),
    "dots": _inside(lambda size: b'{"a":"token' + b"." * size + b'"}'),
    "spaces": _inside(lambda size: b'{"a":"password' + b" " * size + b'x"}'),
    "at_signs": _inside(lambda size: b'{"a":"token://a:' + b"@" * size + b'"}'),
    "sql_options": _inside(
        lambda size: b'{"sql":"create table t with (' + _numbered(b"'a.%d.password' = 'hunter2x'", size, b", ") + b')"}'
    ),
    "named_outputs": _raw(
        lambda size: (
            EVENT[:-1].replace(b"%b", b"{}")
            + b',"outputs":['
            + _numbered(b'{"namespace":"s3://lake","name":"raw/token_events/d%d"}', size)
            + b"]}"
        )
    ),
    "described_columns": _inside(
        lambda size: b"[" + _numbered(b'{"name":"c%d_access_token","type":"STRING","description":"the password of one"}', size) + b"]"
    ),
    "events_with_secrets": _events(b'{"password":"hunter%d","url":"https://a:b%d@c/d","fs.s3a.secret.key":"abc%d"}'),
    "events_of_secrets": _events(b"{" + b",".join(b'"password%d":"x%%d"' % number for number in range(20)) + b"}"),
    "signed_names": _datasets(
        lambda size: _numbered(
            b'{"namespace":"wasbs://c@a.blob.core.windows.net","name":"/data/p%d?sv=2020-08-04&sp=r&se=2026-01-01T00:00:00Z&sig=abcdef%%2B0123%%3D"}',
            size,
        )
    ),
    "secret_datasets": _datasets(lambda size: _numbered(b'{"namespace":"n","name":"token=%d"}', size)),
    "secret_columns": _datasets(
        lambda size: b'{"namespace":"n","name":"t","facets":{"schema":{"fields":[' + _numbered(b'{"name":"token=%d"}', size) + b"]}}}"
    ),
    "secret_descriptions": _datasets(
        lambda size: (
            b'{"namespace":"n","name":"t","facets":{"schema":{"fields":['
            + _numbered(b'{"name":"c%d","description":"token=hunter2"}', size)
            + b"]}}}"
        )
    ),
    "gzip_members": lambda size: Payload(gzip.compress(b"") * (size // 20), compressed=True),
    "gzip_ordinary": lambda size: Payload(gzip.compress(b"\n".join([EVENT % b"{}"] * (size // 250))), compressed=True),
}
"""Bodies that cost much, by what is in them."""

import json
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.openlineage.regex_steps import steps
from tests.openlineage.support import SAMPLES, event, sample_lines, text

from lineage_bridge.openlineage import masked_names, redaction, secrets
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.secret_rules import (
    assigned,
    code,
    commands,
    companions,
    embedded,
    foreign,
    forms,
    members,
    names,
    prose,
    sql,
    statements,
    tokens,
    values,
    weak_names,
)
from lineage_bridge.openlineage.secret_rules.names import names_secret
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.suspicion import formats, search
from lineage_bridge.openlineage.verdict import Rejected, judge

SECRET = "hunter2xyzzy42"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
SHAPES: dict[str, Any] = {
    "password": {"password": "%s"},
    "number": {"pin_password": 123456},
    "camel": {"dbPassword": "%s"},
    "constant": {"DB_PASSWORD": "%s"},
    "compact": {"PGPASSWORD": "%s"},
    "short": {"db_pass": "%s"},
    "pwd": {"trustStorePwd": "%s"},
    "passphrase": {"ssh.passphrase": "%s"},
    "client secret": {"a": [{"client_secret": "%s"}]},
    "token": {"access_token": "%s"},
    "subtree": {"credentials": {"user": ["%s", {"x": {"y": "%s"}}]}},
    "column map with a scalar": {"fields": {"password": "%s"}},
    "api key": {"X-Api-Key": "%s"},
    "api key, compact": {"apikey": "%s"},
    "access key": {"fs.s3a.access.key": "%s"},
    "secret key": {"aws_secret_access_key": "%s"},
    "private key": {"privateKey": "%s"},
    "azure": {"spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net": "%s"},
    "authorization": {"Authorization": "Digest %s"},
    "jaas": {"sasl.jaas.config": 'Login required username="u" password="%s";'},
    "user info": {"schema.registry.basic.auth.user.info": "me:%s"},
    "keystore": {"ssl.keystore.password": "%s", "ssl.keystore.key": "%s"},
    "name and value": {"environmentVariables": [{"name": "DB_PASSWORD", "value": "%s"}]},
    "value and key": {"parameters": [{"value": "%s", "key": "api.token"}]},
    "name and deep value": {"name": "X_TOKEN", "value": {"a": ["%s"]}},
    "name and deeper value": {"name": "X_TOKEN", "value": [{"value": "%s"}]},
    "setting": {"configs": ["database.password=%s", "name=x"]},
    "setting with odd characters": {"configs": ["database.password=%s;a,b&c d"]},
    "query": {"uri": "jdbc:postgresql://h/db?user=a&password=%s&ssl=true"},
    "semicolons": {"uri": "jdbc:sqlserver://h:1433;user=a;password=%s;encrypt=true"},
    "oracle": {"uri": "jdbc:oracle:thin:scott/%s@h:1521:x"},
    "user info in a uri": {"namespace": "postgres://u:%s@h:5432"},
    "user info with an at": {"namespace": "mongodb+srv://u:%s@b@cluster/x"},
    "user info without user": {"namespace": "redis://:%s@h"},
    "sas": {"uri": "https://acc.blob.core.windows.net/x?sv=2024&sig=%s"},
    "connection string": {"cs": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s==;"},
    "bearer": {"header": "Bearer %s"},
    "basic": {"header": "basic %sQ=="},
    "header": {"log": "sent Authorization: Basic %s to h"},
    "identified by": {"query": "CREATE USER u IDENTIFIED BY '%s'"},
    "identified with by": {"query": 'ALTER USER u IDENTIFIED WITH sha256 BY "%s"'},
    "with password": {"query": "CREATE USER u WITH PASSWORD '%s'"},
    "compared": {"query": "SELECT 1 FROM t WHERE password = '%s'"},
    "flink": {"query": "CREATE TABLE t (a INT) WITH ('properties.sasl.jaas.config' = 'L required password=\"%s\";')"},
    "flink url": {"query": "CREATE TABLE t (a INT) WITH ('url'='jdbc:mysql://h/d?user=u&password=%s')"},
    "json in a string": {"config": '{"user": "u", "password": "%s"}'},
    "json in json in a string": {"config": json.dumps(json.dumps({"password": "%s"}))},
    "yaml": {"config": "user: u\npassword: %s\nport: 1"},
    "cause": {"message": "task failed: password=%s of orders"},
    "shell": {"cmd": "mysql --user=u --password=%s db"},
    "source code": {"sourceCode": 'conn = connect(password="%s")'},
    "as a key": {"urls": {"http://u:%s@h": 1}},
    "pem": {"log": "x -----BEGIN RSA PRIVATE KEY-----\nMII\n%s\n-----END RSA PRIVATE KEY----- y"},
}
INNOCENT: list[Any] = [
    {"fields": [{"name": "password", "type": "string"}, {"name": "token", "type": "string"}]},
    {"fields": {"password": {"inputFields": [{"field": "password", "transformations": [{"masking": True}]}]}}},
    {"fields": {"token": {"inputs": [{"type": "DATASET", "namespace": "n", "name": "secret", "field": "secret"}]}}},
    {"columnMetrics": {"password": {"nullCount": 3}}},
    {"tags": [{"key": "secret", "value": "true", "field": "password"}]},
    {"password": None, "token": True, "secret": ""},
    {"token_count": 5, "tokenizer": "bert", "next_page_token": "abc", "max_tokens": 7, "secretary": "x", "compass": "n"},
    {"aws.credentials.provider": "org.x.Y", "ssl.truststore.location": "/x", "password_policy": "strong"},
    {"access_key_id": "me", "primary_key": "id", "key": "value", "author": "x", "passenger": "y"},
    {"name": "PWD", "value": "/srv"},
    {"query": "SELECT a.token, password FROM a JOIN b ON a.token = b.token WHERE a.password=b.password"},
    {"query": "UPDATE users SET password = md5(x)"},
    {"description": "Basic authentication, bearer authentication, no passwords"},
    {"uris": ["http://h:8080/p@v1", "kafka://a:9092,b:9092", "s3://bucket/key", "me@example.org", "file:///a:b@c"]},
    {"name": "secrets_table"},
]


def patterns_in(value: object, name: str) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The regular expressions in a module's variable, with its name."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, tuple):
        for element in value:
            yield from patterns_in(element, name)


def planted(shape: Any, secret: str) -> bytes:
    return json.dumps(shape).replace("%s", json.dumps(secret)[1:-1]).encode()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("form", ["plain", "indented", "truncated", "escaped", "facet", "lines", "broken"])
def test_a_planted_secret_is_masked(shape: Any, form: str) -> None:
    raw = planted(shape, SECRET)
    if form == "indented":
        raw = json.dumps(json.loads(raw), indent=2).encode()
    elif form == "truncated":
        raw = raw[:-1]
    elif form == "escaped":
        raw = raw.replace(b"a", rb"\u0061").replace(b"P", rb"\u0050").replace(b"/", rb"\/")
    elif form == "facet":
        raw = text(event(run={"runId": "r", "facets": {"mine": json.loads(raw)}}))
    elif form == "lines":
        raw = b"{}\n" + raw + b"\n" + raw
    elif form == "broken":
        raw = b'{"\xff": "\\q", ' + raw[1:]
    masked = mask(raw)
    assert SECRET.encode() not in masked
    assert b"123456" not in masked
    assert MASK.encode() in masked or b"mesp" in masked, "credentials in namespaces are removed"
    assert mask(masked) is masked


@pytest.mark.parametrize(
    "secret",
    ["AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1B2" * 9, "github_pat_" + "a1B2" * 9, "xoxb-1234567890-abc", "glpat-" + "x1" * 10, JWT],
)
def test_a_secret_known_by_its_shape_is_masked(secret: str) -> None:
    raw = text({"log": f"call with {secret} failed", "deep": [[f"x={secret}"]]})
    masked = mask(raw)
    assert secret.encode() not in masked
    assert mask(masked) is masked


def test_the_secret_beside_an_access_key_is_masked() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    assert secret.encode() not in mask(text({"namespace": f"s3n://AKIAIOSFODNN7EXAMPLE:{secret}@bucket"}))


@pytest.mark.parametrize("body", INNOCENT)
def test_what_is_no_secret_stays(body: Any) -> None:
    raw = text(body)
    assert mask(raw) is raw


def test_only_the_secret_changes() -> None:
    raw = b'{ "n" :1.50e+3,"password"\t: "x\\u0041" , "t":"\\u00e4\xc3\xa4\\ud800\\u0000", "u":"a://b:c@d", "u":9 }'
    assert mask(raw) == (b'{ "n" :1.50e+3,"password"\t: "********" , "t":"\\u00e4\xc3\xa4\\ud800\\u0000", "u":"a://b:********@d", "u":9 }')


@pytest.mark.parametrize(
    ("body", "masked"),
    [
        (b"user=me\npassword=hunter2\n", b"user=me\npassword=********\n"),
        (b"send to postgres://me:hunter2@h please", b"send to postgres://me:********@h please"),
        (b"password: \xff\xfe", b"password: ********"),
        (b"\xff user", b"\xff user"),
    ],
)
def test_bytes_that_are_no_json(body: bytes, masked: bytes) -> None:
    assert mask(body) == masked


def test_the_user_stays() -> None:
    assert mask(b'["postgres://me:pw@h:5432/db"]') == b'["postgres://me:********@h:5432/db"]'


def test_deep_nesting_is_masked_too() -> None:
    raw = b'{"a":' * 5000 + b'{"password":"hunter2"}' + b"}" * 5000
    assert b"hunter2" not in mask(raw)
    assert b"hunter2" not in mask(raw[:-1])


PIECES = [
    "a",
    "password",
    "a=",
    '\\"',
    "://",
    "eyJ-",
    "/**/",
    "password ",
    "x='",
    " ",
    "bearer ",
    "--\n",
    "jdbc:oracle:x:a/",
    "identified by ",
]
ANCHORED = {"_SQL", "_WHOLE", "_NO_VALUE", "_REFERENCE", "_FORMAT", "_QUOTED", "_BARE", "_SEGMENT", "_BRACED", "_INDENTED", "_ARGUMENT"} | {
    "NAMING",
    "SEVERAL",
    "_HEX",
    "_IDENTIFIER_LIKE",
    "_KEY",
    "_PHRASE",
    "_PLAIN",
    "_RANDOM_KEY",
    "_SCHEME",
    "_TEXTS",
    "_VALUES",
}
ANCHORED |= {
    "FUNCTION",
    "_LEADING",
    "_WHOLE_REFERENCE",
    "_FILE",
    "_CODE",
    "_LOGIN",
    "_ATTACHED",
    "_ATTACHING",
    "_NEXT_ROW",
    "PATH",
    "_KEYTAB",
    "_CIPHER",
}
"""Patterns that are matched at one place only."""
BOUNDED = {"_BEHIND", "_COMPARED", "_SETS", "_ROTATING"}
"""Patterns that only see a few hundred characters."""
MODULES: tuple[ModuleType, ...] = (masked_names, redaction, secrets, assigned, code, commands, companions, embedded)
MODULES += (formats, search, foreign, forms, members, names, prose, sql, statements, tokens, values, weak_names)
PATTERNS = {pattern: name for module in MODULES for text, value in vars(module).items() for name, pattern in patterns_in(value, text)}


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_of_a_pattern_is_proportional_to_the_text(piece: str) -> None:
    most = 350  # steps for each character; names, users and passwords are matched up to 300 characters
    tried = piece * (1000 // len(piece)) + " ******** me password=x y"
    for pattern, name in PATTERNS.items():
        limit = most * len(tried)
        if name not in BOUNDED:
            assert steps(pattern, tried, limit, anchored=name in ANCHORED) < limit, pattern.pattern


def test_work_that_grows_with_the_square_of_the_text_is_seen() -> None:
    assert steps(re.compile(r"\w+=x"), "a" * 1000, 350_000) == 350_000
    assert steps(re.compile(r"(?<!\w)\w+=x"), "a" * 1000, 350_000) < 10_000


@pytest.mark.parametrize("piece", PIECES)
def test_secrets_in_large_bodies_are_masked(piece: str) -> None:
    body = text({"x_token": SECRET, "a@b": piece * (400_000 // len(piece)), "c": [f"********{piece * 1000} me password={SECRET} "]})
    assert body.count(SECRET.encode()) == 2
    assert SECRET.encode() not in mask(body)
    assert SECRET.encode() not in mask(body[:-2])


def test_masking_keeps_the_verdict() -> None:
    for shape in SHAPES.values():
        raw = text(event(run={"runId": "r", "facets": {"mine": json.loads(planted(shape, SECRET))}}))
        assert not isinstance(judge(mask(raw), 0), Rejected)


def test_samples_come_through_unchanged_but_for_real_secrets() -> None:
    changed = [line for line in sample_lines() if mask(line) is not line]
    assert len(changed) == 12
    for line in changed:
        assert b"food_delivery:food_delivery@" in line
        assert mask(line) == line.replace(b"food_delivery:food_delivery@", b"food_delivery:********@")
    assert (SAMPLES / "food_delivery_events.ndjson").read_bytes().count(b"food_delivery:food_delivery@") >= len(changed)


@pytest.mark.parametrize("name", ["password", "DB_PASSWORD2", "sasl.jaas.config", "clientSecret", "token", "account.key.acc.x.net"])
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize("name", ["", "tokens", "token_count", "PWD", "passwordless", "x" * 400 + "password", "secret_name"])
def test_names_of_no_secrets(name: str) -> None:
    assert not names_secret(name)


WORDS = ["password", "PWD", "secret", "token", "=", ":", ";", '"', "'", "\\", " ", "://", "@", "/", "IDENTIFIED BY", "x1", "&"]
WORDS += ["Bearer ", "Basic ", "authorization", "AKIAIOSFODNN7EXAMPLE", "a", "********", JWT, "?", "\n", "é", "SELECT ", "jaas.config"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)
KEYS = st.sampled_from(["password", "name", "key", "value", "fields", "token", "a", "facets", "dbPass"]) | TEXTS
BODIES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


@given(BODIES)
@example({"token:x1": 0})
def test_masking_twice_changes_nothing(body: Any) -> None:
    for raw in (text(body), json.dumps(body, ensure_ascii=False).encode()):
        masked = mask(raw)
        assert mask(masked) is masked
        json.loads(masked)


@given(st.lists(st.sampled_from([*WORDS, "{", "}", "[", "]", ",", '"password":', '"a"', '"'])).map("".join), st.binary(max_size=3))
@example('password\n"a"\'', b"")
def test_masking_twice_changes_nothing_in_what_is_no_json(body: str, noise: bytes) -> None:
    masked = mask(body.encode() + noise + body.encode())
    assert mask(masked) is masked


@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 2), st.text(st.sampled_from("abcXYZ019"), min_size=12, max_size=20))
def test_any_planted_secret_is_masked(shape: str, levels: int, secret: str) -> None:
    body = json.loads(planted(SHAPES[shape], "zQ7" + secret))
    for _ in range(levels):
        body = {"x": [body, {"y": 1}]}
    assert secret.encode() not in mask(text(body))


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    masked = mask(raw + b'{"password":"hunter2')
    assert mask(masked) is masked


@pytest.mark.parametrize("named", ['"key": "Bearer secreta1b2c3d4e5f6"', '"name": "password sig=secret"'])
@pytest.mark.parametrize("key", ["value", "v"])
def test_a_value_is_masked_whose_name_is_a_secrets_only_once_it_is_masked_itself(named: str, key: str) -> None:
    assert b"Hunter2x9Q" not in mask(f'{{{named}, "{key}": "Hunter2x9Q"}}'.encode())

"""Secrets of every kind are masked in every carrier; what is no secret stays; names of different datasets stay different."""

import json
from random import Random

import pytest
from tests.openlineage.planted import innocent, planted

from lineage_bridge.openlineage.masked_names import mask_name
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.secret_rules.values import MASK
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.openlineage.suspicion.search import is_suspicious, suspicious_offsets


def test_planted_secrets_are_masked() -> None:
    missed = []
    for kind, secret, facet in planted(Random(1)):
        masked = mask(json.dumps({"facet": facet}).encode())
        assert mask(masked) is masked, kind
        assert isinstance(json.loads(masked), dict)
        missed += [kind] if secret.encode() in masked else []
    assert missed == []


def test_innocent_texts_stay() -> None:
    bodies = [json.dumps({"facet": facet}).encode() for facet in innocent(Random(2), 2000)]
    assert [body for body in bodies if mask(body) is not body] == []


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("postgres://u:hunter2@h:5432", "postgres://h:5432"),
        ("s3://AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI@bucket", "s3://bucket"),
        ("jdbc:oracle:thin:scott/tiger@//h:1521/svc", "jdbc:oracle:thin:@//h:1521/svc"),
        (
            "jdbc:sqlserver://h:1433;databaseName=d;user=a;password=p;encrypt=true",
            "jdbc:sqlserver://h:1433;databaseName=d;user=a;encrypt=true",
        ),
        ("https://a.blob.core.windows.net/c/x?sv=2024&se=2027-01-01&sr=c&sig=abc%3D", "https://a.blob.core.windows.net/c/x"),
        ("s3://b/k?X-Amz-Date=1&X-Amz-Expires=9&X-Amz-Signature=2&v=3", "s3://b/k?v=3"),
        ("https://h/x?a=1&access_token=t&b=2", "https://h/x?a=1&b=2"),
        ("https://h/x?access_token=t#gid=7", "https://h/x#gid=7"),
        ("https://h/x?a=1&sig=t#gid=7", "https://h/x?a=1#gid=7"),
        ("https://h/x?password=t#gid=7", "https://h/x"),
        ("abfss://container@account.dfs.core.windows.net", "abfss://container@account.dfs.core.windows.net"),
        ("hdfs://user@host:8020", "hdfs://user@host:8020"),
    ],
)
def test_credentials_are_no_part_of_a_name(name: str, masked: str) -> None:
    assert mask_name(name) == masked
    event = json.dumps({"namespace": name, "name": name}).encode()
    assert mask(event) == json.dumps({"namespace": masked, "name": masked}).encode()


def test_names_with_other_secrets_stay_different() -> None:
    paths = [f"events/token={value}/part-{number}.parquet" for value in ("a1c", "d2f", "g3i") for number in range(3)]
    masked = [mask_name(path) for path in paths]
    assert len(set(masked)) == len(paths)
    assert all(MASK in path and path.endswith(".parquet") for path in masked)
    assert masked == [mask_name(path) for path in paths]
    assert masked == [mask_name(path) for path in masked]


def test_a_digest_depends_on_the_key_of_the_installation() -> None:
    name = "load password=hunter2"
    digests = {mask_name(name, key) for key in (b"", b"a" * 32, b"b" * 32)}
    assert len(digests) == 3
    assert all(len(digest) == len("load password=") + len(MASK) + 16 for digest in digests)
    masked = mask(json.dumps({"name": name}).encode(), key=b"a" * 32)
    assert masked == json.dumps({"name": mask_name(name, b"a" * 32)}).encode()
    assert mask(masked, key=b"b" * 32) is masked


def test_a_digest_of_an_older_version_stays() -> None:
    name = b'{"name": "events/token=' + MASK.encode() + b'0a1b2c3d/part-1"}'
    assert mask(name, key=b"a" * 32) is name


def test_a_word_in_a_partition_is_no_secret() -> None:
    assert mask_name("events/token=shop/part-1.parquet") == "events/token=shop/part-1.parquet"
    assert mask_name("events/password=shop/part-1.parquet") != "events/password=shop/part-1.parquet"


def test_a_secret_in_a_name_is_not_in_its_digest() -> None:
    assert b"hunter2" not in mask(b'{"name": "load password=hunter2"}')


@pytest.mark.parametrize(
    "ordinary",
    [
        b'{"tags":[{"key":"openlineage_client_version","source":"OPENLINEAGE_CLIENT","value":"1.54.0"}]}',
        b'{"stackTrace":"at org.apache.spark.scheduler.DAGScheduler.$anonfun$handleTaskSetFailed$1$adapted(DAGScheduler.scala:2888)"}',
        b'{"message":"File \\"/opt/airflow/providers/common/sql/hooks/sql.py\\", line 497"}',
    ],
)
def test_what_every_event_of_a_producer_has_is_not_suspicious(ordinary: bytes) -> None:
    """Such events are not read token by token."""
    assert (is_suspicious(ordinary), suspicious_offsets(ordinary)) == (False, [])


@pytest.mark.parametrize("before", ["", "root:", "hash ", "line\n", "'", "a\tb\t", "a\f", "a\b", "a\u2014", "a\u00e9"])
def test_a_digest_of_a_password_is_found_wherever_it_begins(before: str) -> None:
    body = json.dumps({"facet": {"message": f"{before}$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/"}}).encode()
    assert b"qjXMvbEw8oaL" not in mask(body)


def test_a_long_value_under_the_name_key_is_suspicious_wherever_its_digits_are() -> None:
    assert [is_suspicious(json.dumps({"key": value}).encode()) for value in ("a" * 60 + "7", "7aQ" * 10, "a" * 60)] == [True, True, False]
    assert is_suspicious(b'{"key":"' + b"a" * 24 + rb"\/" + b'7"}'), "its slashes may be escaped"


@pytest.mark.parametrize(
    "text",
    [
        "http://http-service-no-auth-302:8080/redirectPostToPost",
        "sent to http://my-token:8080/getAllMessagesNow, twice",
        '{"url": "http://secret-service-1:8080/v1/getAllMessagesNow"}',
    ],
)
def test_the_port_and_path_of_a_server_that_is_called_like_a_secret_stay(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "http://token:8080/S3CR3Tx9@host/x",
        "http://token:S3CR3Tx9@host/x",
        "http://token:8080S3CR3Tx9",
        "http://my-auth:8080/a?api_key=S3CR3Tx9Abc",
        "token:8080/S3CR3Tx9Abc",
    ],
)
def test_what_follows_a_server_that_is_called_like_a_secret_is_still_masked(text: str) -> None:
    assert "S3CR3Tx9" not in mask_text(text)


def test_users_before_an_at_sign_are_found_however_many_there_are() -> None:
    """Between few of them, it is looked back from each; between many, from the beginning."""
    some = b'"https://me:pw@h/d" "a@b" "x:hunter2@h" "scott/tiger@h" "jdbc:oracle:thin:me/pw@h" "@" "://@" '
    many = suspicious_offsets(some)
    padded = b" " * 5_000 + some
    assert many
    assert suspicious_offsets(padded) == [5_000 + at for at in many]

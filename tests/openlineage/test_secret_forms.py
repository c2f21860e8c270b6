"""Secrets that are known by what is beside them, and texts of the same forms that are none."""

import json
from random import Random

import pytest
from tests.openlineage.planted import HEX, MIXED, text

from lineage_bridge.openlineage.redaction import mask

_RANDOM = Random(13)
_KEY = "aB3" + text(_RANDOM, MIXED, 37)
_TOKEN = "aB3" + text(_RANDOM, MIXED, 120) + "=="
_UUID = "-".join(text(_RANDOM, HEX, size) for size in (8, 4, 4, 4, 12))
_OTHER_UUID = "-".join(text(_RANDOM, HEX, size) for size in (8, 4, 4, 4, 12))
_HOOK = "T" + "A1B2C3D4E5/B" + "F6G7H8I9J0/" + text(_RANDOM, MIXED, 24)


def _masked(facet: object) -> str:
    return mask(json.dumps(facet).encode()).decode()


@pytest.mark.parametrize(
    ("facet", "secret"),
    [
        ({"query": f"COPY a FROM 's3://b/c' SESSION_TOKEN '{_TOKEN}' CSV"}, _TOKEN),
        ({"sourceCode": f"cur.execute(\"copy a from 's3://b/c' secret_access_key '{_KEY}' gzip\")"}, _KEY),
        ({"sourceCode": f"execute immediate 'copy a secret_access_key as ''{_KEY}'' gzip'"}, _KEY),
        ({"sourceCode": f"spark.sql(\"SELECT aes_encrypt(ssn, '{_KEY[:24]}', 'GCM') FROM a\")"}, _KEY[:24]),
        ({"sourceCode": f"spark.sql(\"SELECT aes_decrypt(unhex(a.card), '{_KEY[:16]}') FROM a\")"}, _KEY[:16]),
        ({"message": f"(host='hooks.slack.com', port=443): Max retries exceeded with url: /services/{_HOOK} (Caused by x)"}, _HOOK),
        ({"message": f'invalid: {{"role_id":"{_OTHER_UUID}","secret_id":"{_UUID}"}}'}, _UUID),
        ({"message": f"login role_id={_OTHER_UUID} secret_id={_UUID}"}, _UUID),
        ([{"name": "VAULT_SECRET_ID", "value": _UUID}], _UUID),
        ({"config.providers.vault.param.secretId": _UUID}, _UUID),
    ],
)
def test_secrets_beside_what_names_them_are_masked(facet: object, secret: str) -> None:
    masked = _masked(facet)
    assert json.loads(masked) == json.loads(json.dumps(facet).replace(secret, "********"))
    assert _masked(json.loads(masked)) == masked


@pytest.mark.parametrize(
    "value",
    [
        "ALTER USER a IDENTIFIED BY ?",
        "ALTER USER a IDENTIFIED BY :pw REPLACE :old",
        "CREATE USER a WITH PASSWORD '****'",
        "{'note': 'SELECT a FROM b WHERE password = :password AND c = :c'}",
        'Database Error in model user_token: column "api_key" does not exist',
        'c = get("a"); password = c.password',
        "c = get('a'); password = getpass.getpass()",
        "*********(redacted)",
        "spark.sql(\"SELECT aes_encrypt(ssn, 'customer_email_16') FROM a\")",
        f"the key of the run is MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A{text(_RANDOM, MIXED, 300)}",
        f"certificate MIIDazCCAlOgAwIBAgIU{text(_RANDOM, MIXED, 300)}",
        "GET /services/TOKENS/BUCKETS/orders of hooks.slack.com",
        f"-- session_token '{'a' * 30}' is an alias",
    ],
)
def test_texts_of_the_same_forms_stay(value: str) -> None:
    facet = {"password" if value.startswith("***") else "description": value, "credential": None}
    assert json.loads(_masked(facet)) == facet


def test_a_secrets_id_is_a_secret_only_for_vault_and_only_if_it_is_a_uuid() -> None:
    for facet in ({"aws_secret_id": _UUID}, {"secretId": _UUID}, {"vault_secret_id": "shop/orders"}):
        assert json.loads(_masked(facet)) == facet

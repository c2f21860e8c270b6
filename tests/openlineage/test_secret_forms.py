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
_HASH = text(_RANDOM, HEX, 32)
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
        ({"a": f"load_ghp_{_KEY[:36]}"}, f"ghp_{_KEY[:36]}"),
        ({"a": f"load_AIza{_KEY[:35]}_daily"}, f"AIza{_KEY[:35]}_daily"),
        ({"a": f"load_dapi{_HASH}"}, f"dapi{_HASH}"),
        (["/usr/bin/expdp", f"system/{_KEY}", "tables=a"], _KEY),
        (["sudo", "mosquitto_sub", "-u", "a", "-P", _KEY, "-t", "b"], _KEY),
        (["lftp", "-u", f"a,{_KEY}", "-e", "get b; quit"], _KEY),
        (["mc", "alias", "set", "lake", "http://minio:9000", "etl", _KEY], _KEY),
        (["confluent", "api-key", "store", "ABCDEFGHIJ123456", _KEY], _KEY),
        (["curl", f"-ua:{_KEY}", "https://b"], _KEY),
        (["isql", "a", "b", _KEY], _KEY),
        (["db2", "connect", "to", "a", "user", "b", "using", _KEY], _KEY),
        (["aws", "configure", "set", "aws_secret_access_key", _KEY], _KEY),
        (["net", "use", "Z:", "\\\\a\\b", _KEY, "/user:c"], _KEY),
        (["smbclient", "//a/b", _KEY, "-U", "c"], _KEY),
        ({"command": f"redis-benchmark -a {_KEY} -q"}, _KEY),
        ({"command": f"gsql -U a -W {_KEY} -f b.sql"}, _KEY),
        ({"message": f"Command '['curl', '--user', 'a:{_KEY}']' failed"}, _KEY),
        ({"message": f"error in: CREATE SECRET a (TYPE GCS, KEY_ID 'b', SECRET '{_KEY}')"}, _KEY),
        ({"message": f"error in: INSERT INTO a (b, password) VALUES ('c', '{_KEY}')"}, _KEY),
        ({"query": f"EXEC sp_addlinkedsrvlogin 'A', 'false', NULL, 'b', '{_KEY}'"}, _KEY),
        (["smbclient", "//a/b", "-U", f"A/b%{_KEY}"], _KEY),
        (["sqlcmd", "-P", f"a 1;b'{_KEY}|c"], f"a 1;b'{_KEY}|c"),
        ({"message": f"Command '['sqlcmd', '-P', '{_KEY}']' failed"}, _KEY),
        ({"message": f"error in: CREATE SECRET a (TYPE HTTP, BEARER_TOKEN '{_KEY}')"}, _KEY),
        ({"message": f"error in: INSERT INTO FUNCTION remote('a:9000', 'b', 'c', 'd', '{_KEY}') SELECT 1"}, _KEY),
        ({"message": f"error in: SELECT pgp_sym_decrypt(a.b, '{_KEY}') FROM a"}, _KEY),
        ({"message": f"error in: SELECT a FROM b WHERE token = '{_KEY}'"}, _KEY),
        ({"message": f"refreshing with AQoDYXdzE{_KEY * 8} failed"}, f"AQoDYXdzE{_KEY * 8}"),
        ({"message": 'failed: The password for a on pg.shop.example.com is "Anchor-Copper72".'}, "Anchor-Copper72"),
        ({"url": "postgresql://ADMIN:PASSWORD@HOST:5432/a"}, "PASSWORD"),
        ({"unlock_token": _UUID}, _UUID),
        ({"config": "a.token=1234"}, "1234"),
        (["starting", f"curl -u '$USER:{_KEY}' https://a"], f"{_KEY}' https://a"),
        ({"Set-Cookie": f"lang={_KEY}"}, f"lang={_KEY}"),
        ({"auth_key": _KEY, "max_rows": 1}, _KEY),
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
        "CREATE USER a WITH PASSWORD :'app_password'",
        "password=$PGPASSWORD psql -h a -d b",
        f"load_hf_{_HASH}",
        f"cache_key-{_HASH}",
        "remote('a', 'b', 'c', 'd', 'e1')",
        "error in: INSERT INTO a (b, password_changed_at) VALUES ('c', '2026-01-01')",
        "psql -W -h a -d b",
        "error in: SELECT a FROM b WHERE token = 'running' AND c = 1",
        "Index Cond: (token = $1)",
        "message A { string password = 2; bytes token = 965; }",
        'assert mask("password=x")',
        "db.password=@shop.password@",
        'a_secret = re.compile(r"token=[a-z]+")',
        "Set-Cookie: lang=en; Path=/a",
        "Connect with postgresql://USER:PASSWORD@HOST:5432/a",
        f"Lock token {_UUID} of a is held by another writer",
        f'{{"max_key":"{_KEY[:24]}","column":"a"}}',
        '{"password": "string", "token": "string", "a": "int"}',
    ],
)
def test_texts_of_the_same_forms_stay(value: str) -> None:
    facet = {"password" if value.startswith("***") else "description": value, "credential": None}
    assert json.loads(_masked(facet)) == facet


@pytest.mark.parametrize(
    "name",
    [
        f"sk_{text(_RANDOM, HEX, 64)}",
        f"rnd_{text(_RANDOM, HEX, 32)}",
        f"ico-{text(_RANDOM, HEX, 32)}",
        "y0_revenue_projection_by_region_and_product_category_quarterly",
        "t1.payload_struct.customer_segment_assignment_history_by_region_and_product_line",
        "AVNS_MONTHLY_REVENUE_BY_REGION",
        "STS.FACTINTERNETSALES2024Q1",
        "STS.CustomerOrders2024Archive.order_id",
        "sb_secret_santa_assignment_history_table",
        "wandb_v1_experiment_metrics_by_model_and_dataset_and_split_table",
        "dckr_oat_meal_orders_by_region_table",
        "zpka_orders_by_region_and_customer_segment",
        "EAAA_REVENUE_BY_REGION_AND_PRODUCT_CATEGORY_AND_CUSTOMER_SEGMENT",
    ],
)
def test_names_of_tables_and_columns_that_begin_like_tokens_stay(name: str) -> None:
    for column in (name, f"dim_{name}"):
        facet = {"fields": [{"name": column, "type": "text"}], "query": f"SELECT {column} FROM a", "ids": {column: 1}}
        assert json.loads(_masked(facet)) == facet


def test_arguments_that_are_no_secrets_stay() -> None:
    for arguments in (
        ["sqlcmd", "-P", "$SQL_PASSWORD"],
        ["docker", "run", "-u", "1000:1000", "-p", "8080:80"],
        ["mysql", "-u", "root", "-P", "3306"],
        ["psql", "-W", "-h", "a"],
        ["starting", 'curl -u "$USER:$PASS" https://a/b', "done"],
        ["set", "group", "key_2024_orders"],
        ["api_key_id", "token_2024_count", "secret_access_key", "customer_key_2024"],
    ):
        assert json.loads(_masked({"a": arguments})) == {"a": arguments}


def test_an_object_in_a_list_is_no_name_of_a_secret() -> None:
    facet = {"lines": ["starting", '{"source":{"table":"password_resets"},"key":{"source_system":5}}', "done"]}
    assert json.loads(_masked(facet)) == facet


def test_tokens_of_locks_and_commits_are_no_secrets() -> None:
    facet = {"commit_token": 700, "lock_token": _UUID, "fencing_token": "a-33"}
    assert json.loads(_masked(facet)) == facet


def test_a_name_that_ends_in_pat_has_a_secret_only_if_the_value_is_a_key() -> None:
    for value in ("id_pat=A12345678x", "url_pat=orders-2024.*", "where adm_pat=PAT001234567"):
        assert json.loads(_masked({"query": value})) == {"query": value}
    token = text(_RANDOM, "0123456789abcdefghijklmnopqrstuvwxyz", 52)
    assert token not in _masked({"query": f"AZURE_DEVOPS_EXT_PAT={token}"})


def test_a_secrets_id_is_a_secret_only_for_vault_and_only_if_it_is_a_uuid() -> None:
    for facet in ({"aws_secret_id": _UUID}, {"secretId": _UUID}, {"vault_secret_id": "shop/orders"}):
        assert json.loads(_masked(facet)) == facet

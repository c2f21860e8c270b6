"""Secrets of many kinds in the carriers in which events bring them, and texts that look like secrets and are none."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

LOWER, UPPER, DIGITS, HEX = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "0123456789abcdef"
MIXED = LOWER + UPPER + DIGITS


def text(random: Random, alphabet: str, length: int) -> str:
    return "".join(random.choices(alphabet, k=length))


TOKENS: dict[str, Callable[[Random], str]] = {
    "AWS access key": lambda r: "AKIA" + text(r, UPPER + "234567", 16),
    "AWS temporary key": lambda r: "ASIA" + text(r, UPPER + "234567", 16),
    "GitHub": lambda r: "ghp_" + text(r, MIXED, 36),
    "GitHub, fine-grained": lambda r: "github_pat_" + text(r, MIXED, 22) + "_" + text(r, MIXED, 59),
    "GitLab": lambda r: "glpat-" + text(r, MIXED, 20),
    "Slack": lambda r: f"xoxb-{text(r, DIGITS, 12)}-{text(r, MIXED, 24)}",
    "OpenAI": lambda r: "sk-proj-" + text(r, MIXED, 48),
    "Anthropic": lambda r: "sk-ant-api03-" + text(r, MIXED, 93) + "AA",
    "Stripe": lambda r: "sk_live_" + text(r, MIXED, 24),
    "Google": lambda r: "AIza" + text(r, MIXED + "_-", 35),
    "Google, OAuth": lambda r: "ya29." + text(r, MIXED, 60),
    "Databricks": lambda r: "dapi" + text(r, HEX, 32),
    "Hugging Face": lambda r: "hf_" + text(r, LOWER + UPPER, 34),
    "npm": lambda r: "npm_" + text(r, MIXED, 36),
    "PyPI": lambda r: "pypi-AgEIcHlwaS5vcmc" + text(r, MIXED, 60),
    "SendGrid": lambda r: f"SG.{text(r, MIXED, 22)}.{text(r, MIXED, 43)}",
    "Shopify": lambda r: "shpat_" + text(r, HEX, 32),
    "DigitalOcean": lambda r: "dop_v1_" + text(r, HEX, 64),
    "Docker": lambda r: "dckr_pat_" + text(r, MIXED, 27),
    "Vault": lambda r: "hvs." + text(r, MIXED, 90),
    "Terraform": lambda r: f"{text(r, MIXED, 14)}.atlasv1.{text(r, MIXED, 60)}",
    "Grafana": lambda r: f"glsa_{text(r, MIXED, 32)}_{text(r, HEX, 8)}",
    "New Relic": lambda r: "NRAK-" + text(r, UPPER + DIGITS, 27),
    "Postman": lambda r: f"PMAK-{text(r, HEX, 24)}-{text(r, HEX, 34)}",
    "Atlassian": lambda r: "ATATT3" + text(r, MIXED, 186),
    "Azure AD": lambda r: f"{text(r, MIXED, 3)}8Q~{text(r, MIXED, 34)}",
    "Telegram": lambda r: f"{text(r, '123456789', 9)}:AA{text(r, MIXED, 33)}",
    "JSON Web Token": lambda r: f"eyJ{text(r, MIXED, 30)}.eyJ{text(r, MIXED, 40)}.{text(r, MIXED, 43)}",
    "age": lambda r: "AGE-SECRET-KEY-1" + text(r, UPPER, 58),
    "AWS session token": lambda r: "IQoJb3JpZ2luX2Vj" + text(r, MIXED + "+/", 300) + "=",
    "AWS session token, older": lambda r: "FwoGZXIvYXdzE" + text(r, MIXED + "+/", 300),
    "Google, service account in base64": lambda r: "eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudCIs" + text(r, MIXED, 800),
    "Google, service account in base64, indented": lambda r: "ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3VudCIs" + text(r, MIXED, 800) + "==",
    "private key, PKCS 1": lambda r: "MIIEpAIBA" + "AKCAQEA" + text(r, MIXED + "+/", 700),
    "private key, PKCS 8": lambda r: "MIIEvQIBA" + "DANBgkqhkiG9w0BAQEFAASC" + text(r, MIXED + "+/", 700),
    "private key, PKCS 8, encrypted": lambda r: "MIIFHDBO" + "BgkqhkiG9w0BBQ0w" + text(r, MIXED + "+/", 700),
    "private key, PKCS 8, elliptic curve": lambda r: "MIGHAgEAMBMG" + "ByqGSM49AgEG" + text(r, MIXED + "+/", 140),
    "private key, PKCS 8, elliptic curve, encrypted": lambda r: "MIHsMFcG" + "CSqGSIb3DQEFDT" + text(r, MIXED + "+/", 200),
    "private key, elliptic curve": lambda r: "MIGkAgEB" + "BDD" + text(r, MIXED + "+/", 140),
    "OpenShift": lambda r: "sha256~" + text(r, MIXED + "-_", 43),
    "OpenRouter": lambda r: "sk-or-v1-" + text(r, HEX, 64),
    "SonarQube": lambda r: "squ_" + text(r, HEX, 40),
    "Square": lambda r: "EAAA" + text(r, MIXED + "-_", 60),
    "Yandex": lambda r: f"t1.{text(r, MIXED, 30)}.{text(r, MIXED + '-_', 86)}",
    "Plaid": lambda r: f"access-production-{text(r, HEX, 8)}-{text(r, HEX, 4)}-{text(r, HEX, 4)}-{text(r, HEX, 4)}-{text(r, HEX, 12)}",
    "Mapbox": lambda r: f"sk.eyJ{text(r, MIXED, 60)}.{text(r, MIXED, 22)}",
    "Brevo, SMTP": lambda r: f"xsmtpsib-{text(r, HEX, 64)}-{text(r, MIXED, 16)}",
    "1Password": lambda r: f"A3-{text(r, UPPER, 6)}-{text(r, UPPER, 11)}-{text(r, UPPER, 5)}-{text(r, UPPER, 5)}-{text(r, UPPER, 5)}",
    "Vault, older": lambda r: f"s.{text(r, MIXED, 21)}aB3",
    "Alibaba": lambda r: "LTAI" + text(r, MIXED, 20),
}
"""Tokens that are known by their form, wherever they are."""

NAMES = [
    "password",
    "db_pass",
    "DB_PASSWORD",
    "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net",
    "fs.s3a.secret.key",
    "aws_secret_access_key",
    "api_key",
    "client_secret",
    "sasl.jaas.config.password",
    "FERNET_KEY",
    "ssh_key",
    "jwt",
    "access_token",
    "private_key",
    "passphrase",
    "AccountKey",
    "webhook_key",
    "apikey",
    "keystore.password",
    "auth_token",
    "trustStorePwd",
    "credential",
    "X-Api-Key",
    "snowflake.private.key",
    "signing_key",
    "session_key",
    "pgp_key",
    "encryption_key",
    "hmac_key",
    "refresh_token",
]
"""Settings whose values are secrets, whatever they look like."""

NAMED_CARRIERS: dict[str, Callable[[str, str], Any]] = {
    "a member": lambda name, secret: {name: secret},
    "a list of settings": lambda name, secret: {"env": [{"name": name, "value": secret}]},
    "properties": lambda name, secret: {"config": f"a=1\n{name}={secret}\nb=2"},
    "nested YAML": lambda name, secret: {"config": f"db:\n  user: u\n  {name}: {secret}\n  port: 1\n"},
    "arguments": lambda name, secret: {"args": ["run", f"--{name}", secret, "--verbose"]},
    "a command line": lambda name, secret: {"cmd": f"run --{name} {secret} --verbose"},
    "XML": lambda name, secret: {"conf": f"<configuration><{name}>{secret}</{name}></configuration>"},
    "Hadoop's XML": lambda name, secret: {"conf": f"<property><name>{name}</name><value>{secret}</value></property>"},
    "source code": lambda name, secret: {"sourceCode": f'spark.conf.set("{name}", "{secret}")\n'},
    "SQL options": lambda name, secret: {"query": f"CREATE TABLE t (a INT) WITH ('connector' = 'x', '{name}' = '{secret}')"},
    "JSON in a string": lambda name, secret: {"config": f'{{"user": "u", "{name}": "{secret}"}}'},
    "a message": lambda name, secret: {"message": f"cannot connect: {name}={secret} was refused"},
}

TOKEN_CARRIERS: dict[str, Callable[[str], Any]] = {
    "a member": lambda secret: {"note": secret},
    "a list": lambda secret: {"values": ["a", secret]},
    "a message": lambda secret: {"message": f"call with {secret} failed"},
    "SQL": lambda secret: {"query": f"SELECT call('{secret}') FROM t"},
    "source code": lambda secret: {"sourceCode": f'client = Client("{secret}")'},
    "YAML": lambda secret: {"config": f"x:\n  y: {secret}\n"},
    "properties": lambda secret: {"config": f"x={secret}\n"},
    "a URI": lambda secret: {"uri": f"https://api.example.com/v1?x={secret}&y=1"},
    "an environment": lambda secret: {"env": {"X": secret}},
    "a header": lambda secret: {"header": f"X-Auth: {secret}"},
    "JSON in a string": lambda secret: {"config": f'{{"x": "{secret}"}}'},
    "the beginning of a line": lambda secret: {"text": f"used was:\n{secret}\nin the call"},
    "a table": lambda secret: {"text": f"name\t{secret}\t7"},
    "a line break in code": lambda secret: {"sourceCode": f'print("used was:\\n{secret}")'},
    "an error": lambda secret: {"stackTrace": f"Error: bad key '{secret}'\n\tat a.b.C.d(C.java:1)"},
}

SENTENCES: dict[str, str] = {
    "nested YAML": "db:\n  password: {}",
    "prose": "Use password: {}",
    "dblink": "SELECT * FROM dblink('host=h user=u password={}', 'SELECT 1') AS t (a INT)",
    "Redshift": "COPY t FROM 's3://b/k' ACCESS_KEY_ID 'id' SECRET_ACCESS_KEY '{}'",
    "Redshift, credentials": "COPY t FROM 's3://b/k' CREDENTIALS 'aws_access_key_id=id;aws_secret_access_key={}'",
    "DuckDB": "CREATE SECRET s (TYPE S3, KEY_ID 'id', SECRET '{}')",
    "ClickHouse": "SELECT * FROM s3('https://b.s3.amazonaws.com/x.csv', 'KEYIDKEYID', '{}', 'CSV')",
    "ClickHouse, MySQL": "SELECT * FROM mysql('h:3306', 'db', 't', 'u', '{}')",
    "Snowflake": "CREATE STAGE s URL='s3://b' CREDENTIALS=(AWS_KEY_ID='id' AWS_SECRET_KEY='{}')",
    "ODBC": "Driver={{SQL Server}};Server=h;UID=u;PWD={{{}}}",
    "ODBC without braces": "DSN=x;UID=u;PWD={}",
    "user info": "curl https://u:{}@h/x",
    "bare user info": "connect to scott:{}@db.example.com:1521/x",
    "token before a host": "git clone https://{}@github.com/x/y.git",
    "curl": "curl -u u:{} https://h",
    "mysql": "mysql -u root -p{} db",
    "sshpass": "sshpass -p {} ssh u@h",
    "Oracle": "jdbc:oracle:thin:scott/{}@//h:1521/svc",
    "SQL*Plus": "sqlplus scott/{}@ORCL",
    "SAS": "https://a.blob.core.windows.net/c?sv=2024-01-01&se=2027-01-01&sr=c&sig={}",
    "PGP": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    "SSH": "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
    "PuTTY": "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{}QQQQQQQQQQQQQQQQ\nPrivate-MAC: 1",
    "Slack webhook": "https://hooks.slack.com/services/T00000000/B00000000/{}",
    "bearer": "Authorization: Bearer {}",
    "basic": "Proxy-Authorization: Basic {}9==",
    "digest": 'Authorization: Digest username="u", response="{}"',
    "Python": 'os.environ["DB_PASSWORD"] = "{}"',
    "option": 'df.write.format("jdbc").option("password", "{}").save()',
    "identified by": "CREATE USER u IDENTIFIED BY '{}'",
    "user mapping": "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password '{}')",
    "set": "SET fs.s3a.secret.key={}",
    "Java": "-Djavax.net.ssl.keyStorePassword={}",
    "JAAS": 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{}";',
    "Dockerfile": "ENV POSTGRES_PASSWORD={}",
    "connection string": "Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey={}=",
    "libpq": "host=h port=5432 dbname=d user=u password={}",
    "ADO": "Server=h;Database=d;User Id=u;Password={};Encrypt=true",
    "Redis": "redis://:{}@h:6379/0",
    "MongoDB": "mongodb+srv://u:{}@cluster.example.net/d",
}


def planted(random: Random) -> Iterator[tuple[str, str, Any]]:
    """A name, a secret and a facet with the secret in it, for every kind and carrier."""
    for name in NAMES:
        for carrier, carry in NAMED_CARRIERS.items():
            secret = "x" + text(random, MIXED, 14) + "7"
            yield f"{name} in {carrier}", secret, carry(name, secret)
    for kind, make in TOKENS.items():
        for carrier, carry_token in TOKEN_CARRIERS.items():
            secret = make(random)
            yield f"{kind} in {carrier}", secret, carry_token(secret)
    for kind, sentence in SENTENCES.items():
        secret = "x" + text(random, MIXED, 20) + "7"
        yield kind, secret, {"text": sentence.format(secret)}


INNOCENT: tuple[Any, ...] = (
    {"tags": {"tags": [{"key": "secret", "value": "yes", "source": "CONFIG"}, {"key": "token", "value": "pii", "field": "t"}]}},
    {"query": "SELECT * FROM t WHERE authorization='approved'"},
    {"query": "SELECT * FROM t WHERE a = 1 AND token = 'abc' OR u.secret IN ('a', 'b')"},
    {"query": "SELECT token, secret, password FROM users u JOIN v ON u.token = v.token"},
    {"description": "Column password: hashed with bcrypt; the token: an opaque id of the session"},
    {"description": "Use the secret of the team to log in; see the page on passwords"},
    {"sourceCode": "def connect(user: str, password: str, token: str = None) -> Connection: ..."},
    {"config": "password: ${DB_PASSWORD}\ntoken: {{ secrets.TOKEN }}\nsecret=$(cat file)\n"},
    {"image": "registry.example.com/team/app@sha256:0123456789abcdef", "mail": "me@example.org, you@example.org"},
    {"uris": ["abfss://container@account.dfs.core.windows.net/x", "hdfs://user@host/x", "git@github.com:x/y.git", "s3://b/k"]},
    {"pass": 3, "fail": 0, "tokens": 1200, "max_tokens": 4096, "token_count": 7, "passed": True},
    {"command": ["docker", "run", "-u", "1000:1000", "-p", "8080:80", "--password-file", "/run/secrets/x"]},
    {"command": "docker run -u 1000:1000 -p 8080:80 --secret-name my-db app"},
    {"name": "dapi_reports", "other": ["hf_dataset", "npm_packages", "sk-learn", "sk_id", "SG.region", "key-value", "skillset"]},
    {"PWD": "/srv/app", "OLDPWD": "/srv"},
    {"sql": "SELECT s3('x'), mysql('a', 'b') FROM remote('h', 'db', 't')"},
    {"query": "SELECT * FROM s3('https://b/x.parquet', 'Parquet', 'a Int32, b String')"},
    {"text": "BUILD SUCCESS: target=password-service-1.0.jar, module=token-service"},
    {"key_columns": ["customer_key", "order_key"], "customer_key": 17, "primary_key": "id", "partition_key": "day"},
    {"xml": "<name>spark.app.name</name><value>nightly</value><title>Secrets of the trade</title>"},
    {"time": "2026-01-01T00:00:00Z", "uuid": "0198c0de-0000-7000-8000-000000000001", "digest": "sha256:" + "ab" * 32},
    {"version": "npm:left-pad@1.3.0, group:artifact:1.0@jar", "path": "bypass/compass/trespass=1"},
)
WORDS = [
    "order",
    "customer",
    "payment",
    "click",
    "stock",
    "price",
    "invoice",
    "refund",
    "session",
    "device",
    "region",
    "shop",
    "user",
    "event",
    "daily",
    "raw",
    "clean",
    "fact",
    "dim",
    "stage",
]


def innocent(random: Random, count: int) -> Iterator[Any]:
    """Texts of events without secrets."""
    yield from INNOCENT
    for number in range(count - len(INNOCENT)):
        a, b, c = random.choices(WORDS, k=3)
        yield (
            {"name": f"{a}_{b}.{c}_{number}", "namespace": f"postgres://{a}.example.com:5432"},
            {"query": f"INSERT INTO {a}_{number} SELECT {b}, {c} FROM {b}_{c} WHERE {a} = '{b}' AND {c} > {number}"},
            {"name": f"s3://{a}/{b}/dt=2026-01-{number % 28 + 1:02}/{c}={number}/part-{number}.parquet"},
            {"description": f"The {a} of the {b}: see {c}, and ask {a}@example.com for access to {b}/{c}"},
            {"runId": f"0198c0de-{number:04}-7000-8000-{number:012}", "hash": text(random, HEX, 64), "rows": number},
            {"config": f"{a}.{b}={number}\n{c}.enabled=true\n{a}_url=jdbc:postgresql://{b}:5432/{c}?ssl=true\n"},
        )[number % 6]

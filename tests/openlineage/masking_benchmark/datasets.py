"""Pairs of datasets: those that differ must stay two, and those that differ in a credential only must be one."""

from collections.abc import Iterator
from itertools import combinations

from tests.openlineage.masking_benchmark.material import make

Dataset = tuple[str, str]
"""Namespace and name."""
Pair = tuple[Dataset, Dataset]

_FAMILIES: dict[str, tuple[str, ...]] = {
    "partitions": (
        "s3://acme-lake/orders/token=shop/day=1",
        "s3://acme-lake/orders/token=crm/day=1",
        "s3://acme-lake/orders/token=shop/day=2",
        "s3://acme-lake/orders/key=shop",
        "s3://acme-lake/orders/key=crm",
        "s3://acme-lake/orders/secret=yes",
        "s3://acme-lake/orders/secret=no",
    ),
    "tables about secrets": (
        "shop.public.password_resets",
        "shop.public.password_reset",
        "shop.public.passwords",
        "shop.public.user_tokens",
        "shop.public.user_token",
        "shop.secret.orders",
        "shop.secrets.orders",
        "shop.api_keys",
        "shop.api_key",
    ),
    "containers before an @": (
        "abfss://raw@acmelake.dfs.core.windows.net/orders",
        "abfss://clean@acmelake.dfs.core.windows.net/orders",
        "abfss://raw@otherlake.dfs.core.windows.net/orders",
        "wasbs://raw@acmelake.blob.core.windows.net/orders",
        "wasbs://clean@acmelake.blob.core.windows.net/orders",
        "s3a://raw@acme/orders",
    ),
    "queries": (
        "https://api.example.com/orders?page=1",
        "https://api.example.com/orders?page=2",
        "https://api.example.com/orders?country=DE&page=1",
        "https://api.example.com/orders?key=shop",
        "https://api.example.com/orders?key=crm",
        "https://api.example.com/orders#2024",
        "https://api.example.com/orders#2025",
    ),
    "prefixes of tokens": (
        "sk-orders-shop",
        "sk-orders-crm",
        "pk-orders-shop",
        "hf_orders_shop",
        "hf_orders_crm",
        "dapi_orders",
        "ghp_orders_shop",
        "ghp_orders_crm",
        "xoxb-orders",
        "xoxp-orders",
    ),
    "servers": (
        "jdbc:postgresql://a.internal:5432/shop?user=etl&password=Kestrel77",
        "jdbc:postgresql://b.internal:5432/shop?user=etl&password=Kestrel77",
        "jdbc:postgresql://a.internal:5433/shop?user=etl&password=Kestrel77",
        "jdbc:postgresql://a.internal:5432/crm?user=etl&password=Kestrel77",
        "jdbc:sqlserver://a.internal:1433;databaseName=shop;user=etl;password=Kestrel77",
        "jdbc:sqlserver://a.internal:1433;databaseName=crm;user=etl;password=Kestrel77",
        "jdbc:oracle:thin:etl/Kestrel77@a.internal:1521/shop",
        "jdbc:oracle:thin:etl/Kestrel77@b.internal:1521/shop",
        "mongodb://etl:Kestrel77@a.internal/shop",
        "mongodb://etl:Kestrel77@b.internal/shop",
    ),
    "people": ("ada@example.com", "bob@example.com", "ada@example.org", "users/ada", "users/bob"),
    "signed objects": (
        "https://acmelake.blob.core.windows.net/raw/a.csv?sv=2022&sig=Zm9vYmFyYmF6cXV4",
        "https://acmelake.blob.core.windows.net/raw/b.csv?sv=2022&sig=Zm9vYmFyYmF6cXV4",
        "https://acmelake.blob.core.windows.net/clean/a.csv?sv=2022&sig=Zm9vYmFyYmF6cXV4",
        "https://other.blob.core.windows.net/raw/a.csv?sv=2022&sig=Zm9vYmFyYmF6cXV4",
    ),
}
_MATERIAL: dict[str, str] = {
    "hashed folders": "s3://acme-lake/{hx:32}/orders",
    "commits": "https://github.com/acme/etl/blob/{hx:40}/orders.sql",
    "ids of files": "s3://acme-lake/orders/part-00000-{uuid}-c000.snappy.parquet",
    "snapshots": "s3://acme-lake/orders/metadata/00001-{uuid}.metadata.json",
    "digests": "docker.example.com/acme/etl@sha256:{hx:64}",
    "groups": "orders-{hx:8}",
    "topics with ids": "orders.{uuid}.changelog",
    "numbers": "dbfs:/runs/{num:18}/orders",
    "long names": "orders-{an:40}",
    "names in base64": "queues/{b64:44}",
    "tokens of code hosts": "artifacts/ghp_{an:36}/orders",
    "tokens of workspaces": "workspaces/dapi{hx:32}/orders",
    "web hooks": "https://hooks.slack.com/services/T{up:8}/B{up:10}/{an:24}",
    "other web hooks": "https://discord.com/api/webhooks/{num:18}/{url:68}",
    "flows of automation": "https://hooks.zapier.com/hooks/catch/{num:7}/{low:7}",
    "bots": "https://api.telegram.org/bot{num:10}:AA{url:33}/sendMessage",
    "keys in paths": "exports/AKIA{b32:16}/orders",
    "keys of maps": "tiles/AIza{url:35}/orders",
    "web tokens": "sessions/eyJ{an:33}.eyJ{url:60}.{url:43}",
    "versions": "https://files.example.com/orders.csv?versionId={an:32}",
    "containers of customers": "abfss://{low:12}@acmelake.dfs.core.windows.net/orders",
}
_CREDENTIALS: dict[str, str] = {
    "user info": "postgres://etl:{humanurl}@db.internal:5432/shop.orders",
    "user info of an API": "https://{low:8}:{humanurl}@api.example.com/v1/orders",
    "user info of MongoDB": "mongodb+srv://etl:{humanurl}@cluster.internal/shop",
    "user info of Redis": "redis://:{humanurl}@cache.internal:6379/0",
    "user info of a broker": "amqp://{low:6}:{humanurl}@rabbit.internal:5672/vhost",
    "user info of files": "sftp://etl:{humanurl}@files.internal/in/orders.csv",
    "keys of S3": "s3a://AKIA{b32:16}:{an:40}@acme-lake/orders",
    "signature of S3": "https://acme-lake.s3.amazonaws.com/orders.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIA{b32:16}%2F20240101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=20240101T{num:6}Z"
    "&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature={hx:64}",
    "signature of Azure": "https://acmelake.blob.core.windows.net/raw/a.csv?sv=2022-11-02&sr=b&sp=r&sig={an:43}%3D",
    "signature of Google": "https://storage.googleapis.com/acme-lake/a.csv?GoogleAccessId=etl@acme.example&Expires={num:10}&Signature={an:80}",
    "password of PostgreSQL": "jdbc:postgresql://db.internal:5432/shop?user=etl&password={humanurl}",
    "password of SQL Server": "jdbc:sqlserver://db.internal:1433;databaseName=shop;user=etl;password={human}",
    "password of Oracle": "jdbc:oracle:thin:etl/{human}@erp.internal:1521/erp",
    "token of an API": "https://api.example.com/v1/orders?access_token={an:40}",
    "key of an API": "https://api.example.com/v1/orders?page=2&api_key={an:32}",
}


def different() -> Iterator[tuple[str, Pair]]:
    """Pairs that must stay two datasets, each with its family. A text is the name of one pair and the namespace of another."""
    for family, texts in _FAMILIES.items():
        for first, second in combinations(texts, 2):
            yield from _as_datasets(family, first, second)
    for family, template in _MATERIAL.items():
        for number in range(3):
            yield from _as_datasets(family, _filled(template, f"a{number}"), _filled(template, f"b{number}"))


def same() -> Iterator[tuple[str, Pair]]:
    """Pairs that differ in a credential only, each with its family."""
    for family, template in _CREDENTIALS.items():
        for number in range(3):
            yield from _as_datasets(family, _filled(template, f"a{number}"), _filled(template, f"b{number}"))


def _as_datasets(family: str, first: str, second: str) -> Iterator[tuple[str, Pair]]:
    yield f"{family}, name", (("links", first), ("links", second))
    yield f"{family}, namespace", ((first, "orders"), (second, "orders"))


def _filled(template: str, seed: str) -> str:
    pieces = template.replace("}", "{").split("{")
    return "".join(make(piece, f"{template}/{seed}/{index}") if index % 2 else piece for index, piece in enumerate(pieces))

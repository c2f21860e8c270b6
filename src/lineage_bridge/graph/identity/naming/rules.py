"""The naming rules, as data. After a change, raise VERSION, so that the graph is folded again from the log.

A rule states that two spellings denote the same dataset, judged by *the spellings alone*: a scheme's synonym, a driver's default port, an
identifier's case, a directory of a partitioned table. The addresses of JDBC drivers are parsed by `openlineage/jdbc`. Facts that spellings
do not contain (the account of a Glue database, the servers of a Confluent cluster, the workspace behind a short name) cannot be rules; they
require an operator's alias. There are no rules for jobs, because namespaces of jobs are arbitrary.
"""

from dataclasses import dataclass, field

from lineage_bridge.openlineage.naming import DEFAULT_PORTS

VERSION = 3

HOST = r"(?:\[[^\]]+\]|[^:/,\[\]@]+)"
PATHS = r"(?:s3|s3a|s3n|gs|gcs|abfss?|wasbs?|hdfs|viewfs|dbfs|file)://.*|file"
_KEYS = r"(?:s3|s3a|s3n|gs|gcs|abfss?|wasbs?)://.+"


@dataclass(frozen=True)
class SpaceRule:
    """A naming rule for namespaces: a namespace that fully matches `pattern` is the same as the namespace `to`, in which its names are
    preceded by `prefix`.

    `to` and `prefix` are templates over the groups of `pattern`. With `parts`, the rule applies only to names of that many dotted
    parts. Groups in `lower` are converted to lower case. A group named `each` is a list separated by commas; every element gives a
    namespace of its own. `note` states why the two are the same.
    """

    id: str
    pattern: str
    to: str
    note: str
    prefix: str = ""
    parts: int = 0
    lower: tuple[str, ...] = ()


@dataclass(frozen=True)
class NameRule:
    """A naming rule for names: the function `how` (see spelling.py) rewrites names in namespaces that fully match `spaces`."""

    id: str
    spaces: str
    how: str
    note: str
    arguments: dict[str, str] = field(default_factory=dict)


PORTS = {
    scheme: DEFAULT_PORTS[scheme]
    for scheme in (
        "postgres",
        "mysql",
        "mssql",
        "oracle",
        "db2",
        "crate",
        "oceanbase",
        "teradata",
        "redshift",
        "cassandra",
        "milvus",
        "mongodb",
    )
}
"""The port that a system's drivers use when none is given. Kafka has no default port."""

HTTPS = ("unitycatalog", "databricks", "snowflake", "awsathena", "trino")
"""Systems that are reached over HTTPS, so that their port 443 may be left out."""

SERVERS = "|".join((*PORTS, *HTTPS, "kafka", "trino", "hive", "hdfs", "sqlserver", "kinesis", "spark", "clickhouse"))
"""Schemes whose namespace is a host, in which upper and lower case are the same."""

RAW_ADDRESSES = r"(?i:oracle:(?:thin|oci)|sqlserver://[^/;]*;|mysql://(?:address=)?\().*"
"""Drivers' addresses that OpenLineage's clients write as a namespace, without `jdbc:`, because they do not parse them."""

SPACE_RULES: tuple[SpaceRule, ...] = (
    # scheme synonyms
    SpaceRule("scheme-postgresql", r"postgresql://(?P<rest>.+)", "postgres://{rest}", "postgresql and postgres are synonyms"),
    SpaceRule("scheme-s3a", r"s3[an]://(?P<rest>.+)", "s3://{rest}", "s3a and s3n are schemes of Hadoop's S3 clients"),
    SpaceRule("scheme-gcs", r"gcs://(?P<rest>.+)", "gs://{rest}", "gcs and gs are synonyms"),
    SpaceRule("scheme-abfs", r"abfs://(?P<rest>.+)", "abfss://{rest}", "the scheme only states whether TLS is used"),
    SpaceRule("scheme-wasb", r"wasb://(?P<rest>.+)", "wasbs://{rest}", "the scheme only states whether TLS is used"),
    SpaceRule("scheme-thrift", r"thrift://(?P<rest>[^,]+)", "hive://{rest}", "Hive metastores are addressed by Thrift"),
    SpaceRule("scheme-file", r"file:/{0,3}|file://localhost", "file", "local files without a host"),
    SpaceRule("glue-arn", r"aws:glue:(?P<rest>[a-z0-9-]+:\d+)", "arn:aws:glue:{rest}", "an older form of the ARN"),
    SpaceRule("arn-s3", r"arn:aws:s3:::(?P<bucket>[^/]+)", "s3://{bucket}", "an ARN identifies a bucket"),
    # hosts and ports
    SpaceRule(
        "server-list",
        r"(?P<scheme>postgres|mysql|mssql|oracle|db2|crate|oceanbase|redshift|cassandra|clickhouse|mongodb)://(?P<each>[^/,]*(?:,[^/,]*)+)",
        "{scheme}://{each}",
        "servers in the address of one database have its tables",
    ),
    SpaceRule(
        "host-case",
        rf"(?P<scheme>{SERVERS})://(?P<host>[^/]*[A-Z][^/]*)",
        "{scheme}://{host}",
        "host names are case-insensitive",
        lower=("host",),
    ),
    *(
        SpaceRule(
            "default-port",
            rf"{scheme}://(?P<host>{HOST})(?::(?i:none))?",
            f"{scheme}://{{host}}:{port}",
            "the default port of the system's drivers",
        )
        for scheme, port in PORTS.items()
    ),
    *(
        SpaceRule("default-port", rf"{scheme}://(?P<host>{HOST}):443", f"{scheme}://{{host}}", "the default port of HTTPS")
        for scheme in HTTPS
    ),
    SpaceRule(
        "loopback",
        r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:127(?:\.\d{1,3}){3}|\[::1\]|0\.0\.0\.0)(?P<rest>(?::\d+)?(?:/.*)?)",
        "{scheme}://localhost{rest}",
        "addresses of the machine itself",
    ),
    SpaceRule(
        "trailing-slash",
        r"(?P<space>[a-z0-9+.-]+://[^/]+(?:/[^/]+)*|(?:arn:)?aws[a-z-]*:glue:[a-z0-9-]+:\d+)/+",
        "{space}",
        "a slash at the end is ignored",
    ),
    # Kafka
    SpaceRule(
        "kafka-protocol",
        r"kafka://(?:PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL)://(?P<rest>.+)",
        "kafka://{rest}",
        "a listener's security protocol is not part of its address",
    ),
    SpaceRule(
        "kafka-servers",
        r"kafka://(?P<each>[^/,]*(?:,[^/,]*)+)",
        "kafka://{each}",
        "servers in one bootstrap list belong to one cluster",
    ),
    SpaceRule(
        "confluent-host",
        r"kafka://(?P<id>lkc-[a-z0-9]+)[.-][a-z0-9.-]+\.confluent\.cloud:9092",
        "kafka://{id}",
        "the host name of a dedicated Confluent Cloud server contains the cluster id",
    ),
    SpaceRule(
        "confluent-cluster",
        r"confluent://[^/]+/(?P<id>lkc-[a-z0-9]+)",
        "kafka://{id}",
        "a Confluent Cloud cluster id is globally unique",
    ),
    # warehouses and catalogs
    SpaceRule(
        "redshift-endpoint",
        r"redshift://(?P<cluster>[^.:/]+)\.[^.:/]+\.(?P<region>[a-z0-9-]+)\.redshift\.amazonaws\.com(?P<port>:\d+)",
        "redshift://{cluster}.{region}{port}",
        "an endpoint contains cluster and region",
    ),
    SpaceRule(
        "snowflake-account",
        r"snowflake://(?P<account>[^/]+?)\.snowflakecomputing\.com(?::443)?(?:/.*)?",
        "snowflake://{account}",
        "the host name contains the account",
    ),
    SpaceRule("bigquery", r"bigquery://", "bigquery", "one namespace for all projects"),
    SpaceRule(
        "bigquery-dataset",
        r"google://(?P<project>[^/]+)/(?P<dataset>[^/]+)",
        "bigquery",
        "project and dataset are parts of the name",
        prefix="{project}.{dataset}.",
    ),
    SpaceRule("unity-scheme", r"unity-catalog://(?P<rest>.+)", "unitycatalog://{rest}", "unity-catalog and unitycatalog are synonyms"),
    SpaceRule(
        "inner-scheme",
        r"(?P<scheme>databricks|unitycatalog|unity-catalog)://https?://(?P<host>[^/]+)/?",
        "{scheme}://{host}",
        "the inner scheme of a workspace's URL is redundant",
    ),
    SpaceRule(
        "databricks-host",
        r"databricks://(?P<host>[^/.:]+(?:\.[^/.:]+)+)",
        "unitycatalog://{host}",
        "names of three parts belong to the workspace's Unity Catalog",
        parts=3,
    ),
    SpaceRule(
        "glue-database",
        r"aws://(?P<region>[a-z0-9-]+)/(?P<db>[^/]+)",
        "aws://{region}",
        "the database is part of the table's name; the account is unknown",
        prefix="table/{db}/",
    ),
)

NAME_RULES: tuple[NameRule, ...] = (
    NameRule("path-slashes", _KEYS, "slashes", "slashes at the start and end of a key are ignored", {"lead": ""}),
    NameRule(
        "path-slashes", r"(?:hdfs|viewfs|dbfs)://[^/]+/*", "slashes", "paths start with a slash; one at the end is ignored", {"lead": "/"}
    ),
    NameRule(
        "path-slashes",
        r"(?:hdfs|viewfs|dbfs)://[^/]+/+[^/].*|file(?:://.*)?",
        "slashes",
        "a slash at the end of a path is ignored",
        {"lead": "?"},
    ),
    NameRule("path-key-value", PATHS, "last-segment", "a partition of a table", {"segment": r"[^/=]+=[^/]*"}),
    NameRule("path-date", PATHS, "date", "a day or month of a dataset"),
    NameRule("path-epoch", PATHS, "last-segment", "one write to a dataset, named by its time in milliseconds", {"segment": r"1[0-9]{12}"}),
    NameRule(
        "path-part-file",
        PATHS,
        "last-segment",
        "a file that a task or commit wrote to a dataset",
        {
            "segment": r"\.?part-(?:[mr]-)?[0-9]{4,}.*|\.?part-[0-9a-f]{8}-[0-9a-f-]{27}-.*"
            r"|[0-9]{6}_[0-9]+(?:_copy_[0-9]+)?|.+\+[0-9]+\+[0-9]{10}\..+"
        },
    ),
    NameRule("snowflake-identifiers", r"snowflake://.+", "identifiers", "unquoted identifiers are upper case"),
    NameRule(
        "bigquery-quotes", r"bigquery", "template", "quotes are not part of a name", {"pattern": r"`(?P<name>[^`]+)`", "name": "{name}"}
    ),
    NameRule(
        "bigquery-legacy",
        r"bigquery",
        "template",
        "legacy SQL separates the project by a colon",
        {"pattern": r"(?P<project>[a-z][a-z0-9-]+):(?P<rest>[^.:]+\.[^.:]+)", "name": "{project}.{rest}"},
    ),
    NameRule(
        "glue-table",
        r"(?:arn:)?aws[a-z-]*:glue:[a-z0-9-]+:\d+/*",
        "template",
        "an older form: database and table are separated by a dot",
        {"pattern": r"(?P<db>[^./]+)\.(?P<table>[^./]+)", "name": "table/{db}/{table}"},
    ),
    NameRule(
        "glue-dotted",
        r"glue://(?P<region>[a-z0-9-]+)",
        "template",
        "database and table are separated by a dot",
        {"pattern": r"(?P<db>[^./]+)\.(?P<table>[^./]+)", "space": "aws://{region}", "name": "table/{db}/{table}"},
    ),
)

PARTITION_RULES = frozenset({"path-key-value", "path-date", "path-epoch", "path-part-file"})
"""The rules that cut a part of a dataset off its name."""

FORMS: tuple[str, ...] = (
    rf"kafka://{HOST}:\d+",
    "pubsub",
    *(rf"{scheme}://{HOST}:\d+" for scheme in ("postgres", "mysql", "mssql", "oracle", "db2", "crate", "oceanbase", "teradata")),
    *(rf"{scheme}://{HOST}:\d+" for scheme in ("redshift", "cassandra", "milvus", "trino", "hive", "sqlserver", "hdfs")),
    r"snowflake://[^/,]+",
    "bigquery",
    r"spanner://[^/]+:[^/]+",
    r"awsathena://[^/]+",
    r"arn:aws[a-z-]*:glue:[a-z0-9-]+:\d+",
    r"unitycatalog://[^/]+",
    r"azurecosmos://.+/dbs/.+",
    r"azurekusto://[^/]+",
    r"fabric-warehouse://[^/]+",
    r"(?:s3|gs|hdfs|dbfs|file)://[^/]+",
    r"(?:abfss|wasbs)://[^/@]+@[^/]+",
    "file",
    r"(?:box|mssharepoint|filenet|inmemory)://.*",
)
"""Patterns of canonical namespaces: the forms in the table of the naming specification."""

LINEAGE_BRIDGE_FORMS: tuple[str, ...] = (
    r"confluent://[^/]+/[^/]+",
    r"databricks://.+",
    r"aws://[^/]+/[^/]+",
    r"google://[^/]+/[^/]+",
    r"jdbc://.+",
    r"external://.+",
)
"""Patterns of the namespaces that LineageBridge writes."""

JOB_FORMS: tuple[str, ...] = (r"(?:kafka-connect|msk-connect|flink|ksqldb|kafka)://.+",)
"""Patterns of the namespaces in which systems name their own jobs. A job's name in such a namespace is preferred to its other names."""

VAGUE: tuple[str, ...] = (
    r"",
    r"(?i:kafka|kinesis|null|none|unknown|default|jdbc|unity-catalog)",
    r"(?i:kafka|postgres|postgresql|mysql|hive|thrift|hdfs|kinesis)://(?:(?:null|none|unknown)?(?::(?:-?\d+|null|none))?)?",
)
"""Patterns of namespaces that do not determine the system; a link to one of them has no effect."""

LOOPBACK = r"[a-z]+://(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::\d+)?"
"""Pattern of loopback addresses, which are left out of lists of servers because other machines cannot use them."""

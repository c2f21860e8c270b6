"""The organization, its environments, clusters, registries, regions, people, and the credentials for each."""

from tests.confluent.organization.values import Json, Secrets, time, token, uid

ORGANIZATION = uid("organization acme")
PROD, STAGING, ANALYTICS = "env-p9k2x7", "env-s4m8d1", "env-a7n3t5"
ORDERS, PAYMENTS, WEB, LOGISTICS = "lkc-p1ord7", "lkc-p2pay4", "lkc-p3web9", "lkc-p4log2"
DEV, TEST = "lkc-s1dev5", "lkc-s2tst8"
WAREHOUSE, LAB = "lkc-a1dwh3", "lkc-a2lab6"
SHARED = "pkc-4r087.us-west-2.aws.confluent.example"
FOREIGN = "lkc-x9ext1"
"""A cluster of another organization, which is the source of a link."""
REGIONS = {
    PROD: ("aws.us-east-1", "aws.eu-central-1"),
    STAGING: ("aws.us-west-2", "aws.eu-central-1"),
    ANALYTICS: ("gcp.us-central1", "gcp.europe-west4"),
}
"""The Flink regions of each environment."""


def environments() -> list[Json]:
    definitions = [(PROD, "production", "ADVANCED"), (STAGING, "staging", "ESSENTIALS"), (ANALYTICS, "analytics", "ADVANCED")]
    return [
        {"id": id_, "display_name": name, "stream_governance_config": {"package": package}, "created_at": time(id_)}
        for id_, name, package in definitions
    ]


def kafka_clusters() -> list[Json]:
    """Kafka clusters. `lag_offered`: whether REST reports the lag of groups."""
    definitions = [
        (
            ORDERS,
            PROD,
            "orders-prod",
            "Dedicated",
            "AWS",
            "us-east-1",
            "MULTI_ZONE",
            "lkc-p1ord7-6kx1q.us-east-1.aws.glb.confluent.example",
        ),
        (PAYMENTS, PROD, "payments prod", "Standard", "AWS", "eu-central-1", "MULTI_ZONE", "pkc-7prvp.eu-central-1.aws.confluent.example"),
        (WEB, PROD, "web-events", "Freight", "AWS", "us-east-1", "HIGH", "lkc-p3web9-ap1f2.us-east-1.aws.glb.confluent.example"),
        (
            LOGISTICS,
            PROD,
            "logistics",
            "Enterprise",
            "AWS",
            "eu-central-1",
            "HIGH",
            "lkc-p4log2.eu-central-1.aws.private.confluent.example",
        ),
        (DEV, STAGING, "dev", "Basic", "AWS", "us-west-2", "SINGLE_ZONE", SHARED),
        (TEST, STAGING, "test", "Basic", "AWS", "us-west-2", "SINGLE_ZONE", SHARED),
        (
            WAREHOUSE,
            ANALYTICS,
            "warehouse",
            "Dedicated",
            "GCP",
            "us-central1",
            "SINGLE_ZONE",
            "lkc-a1dwh3-g2m5z.us-central1.gcp.glb.confluent.example",
        ),
        (LAB, ANALYTICS, "lab", "Standard", "GCP", "us-central1", "SINGLE_ZONE", "pkc-lgk0v.us-central1.gcp.confluent.example"),
    ]
    return [
        {
            "id": id_,
            "environment": environment,
            "display_name": name,
            "kind": kind,
            "cloud": cloud,
            "region": region,
            "availability": availability,
            "kafka_bootstrap_endpoint": f"SASL_SSL://{host}:9092",
            "phase": "PROVISIONED",
            "lag_offered": kind == "Dedicated",
            "created_at": time(id_),
        }
        for id_, environment, name, kind, cloud, region, availability, host in definitions
    ]


def registries() -> list[Json]:
    definitions = [
        ("lsrc-p7rod1", PROD, "ADVANCED", "AWS", "us-east-1"),
        ("lsrc-s5tag2", STAGING, "ESSENTIALS", "AWS", "us-west-2"),
        ("lsrc-a3nal4", ANALYTICS, "ADVANCED", "GCP", "us-central1"),
    ]
    return [
        {
            "id": id_,
            "environment": environment,
            "package": package,
            "cloud": cloud,
            "region": region,
            "display_name": "Stream Governance Package",
            "phase": "PROVISIONED",
        }
        for id_, environment, package, cloud, region in definitions
    ]


def registry_of(environment: str) -> str:
    return next(str(registry["id"]) for registry in registries() if registry["environment"] == environment)


ACCOUNTS = {
    "sa-adm1n0": ("lineage-admin", "Reads everything for lineage"),
    "sa-ord3rs": ("order-service", "Writes orders"),
    "sa-pay5en": ("payment-service", "Writes payments and refunds"),
    "sa-web7tr": ("web-tracker", "Writes clicks and page views"),
    "sa-fl1nk0": ("flink-jobs", "Runs the statements of production"),
    "sa-conn42": ("connectors", "Runs managed connectors"),
    "sa-ks9ldb": ("ksqldb", "Runs ksqlDB"),
    "sa-an4lyt": ("analytics-jobs", ""),
    "sa-st4g1n": ("staging-all", "Everything in staging"),
    "sa-nobody": ("nobody", "Has no rights"),
}
USERS = {
    "u-4nn4k1": ("anna@acme.example", "Anna Kovacs"),
    "u-b0r1s2": ("boris@acme.example", "Boris Lund"),
    "u-ch1oe3": ("chloe@acme.example", "Chloé Martin"),
}


def people() -> dict[str, list[Json]]:
    return {
        "service_accounts": [
            {"id": id_, "display_name": name, "description": text, "created_at": time(id_)} for id_, (name, text) in ACCOUNTS.items()
        ],
        "users": [
            {"id": id_, "email": email, "full_name": name, "auth_type": "AUTH_TYPE_LOCAL", "created_at": time(id_)}
            for id_, (email, name) in USERS.items()
        ],
    }


def credentials(secrets: Secrets, ksqldb: list[Json]) -> Json:
    """Name of a credential to its key, secret, owner and rights.

    `scope`: cloud, kafka, registry, flink, ksqldb or tableflow; `resources`: the ids that it gives access to (`env/cloud.region` for
    Flink); `role`: `none` is refused everywhere, `FlinkDeveloper` sees its owner's statements only.
    """

    def create(name: str, scope: str, resources: list[str], owner: str = "sa-adm1n0", role: str = "Admin") -> Json:
        key = token(f"key {name}", 16).upper()
        return {"key": key, "secret": secrets.create(f"key {name}"), "owner": owner, "scope": scope, "resources": resources, "role": role}

    flink = {env: [f"{env}/{region}" for region in regions] for env, regions in REGIONS.items()}
    return {
        "cloud": create("cloud", "cloud", ["*"]),
        "kafka": {cluster["id"]: create(cluster["id"], "kafka", [cluster["id"]]) for cluster in kafka_clusters()},
        "registry": {registry["id"]: create(registry["id"], "registry", [registry["id"]]) for registry in registries()},
        "flink": {env: create(f"flink {env}", "flink", regions) for env, regions in flink.items()},
        "flink_region": {region: create(region, "flink", [region]) for regions in flink.values() for region in regions},
        "flink_developer": {PROD: create("flink developer", "flink", flink[PROD], "sa-fl1nk0", "FlinkDeveloper")},
        "ksqldb": {cluster["id"]: create(cluster["id"], "ksqldb", [cluster["id"]]) for cluster in ksqldb},
        "tableflow": {env: create(f"tableflow {env}", "tableflow", [env]) for env in REGIONS},
        "metrics": create("metrics", "cloud", ["*"]),
        "audit_log": create("audit log", "kafka", ["lkc-aud1t0"]),
        "powerless": create("powerless", "cloud", ["*"], "sa-nobody", "none"),
    }


def api_keys(credentials_: Json) -> list[Json]:
    """The keys as IAM lists them, without secrets."""
    every = [key for group in credentials_.values() for key in ([group] if "key" in group else group.values())]
    service = [
        {"key": token(f"service key {owner}", 16).upper(), "owner": owner, "scope": "kafka", "resources": [cluster]}
        for owner, cluster in (
            ("sa-ord3rs", ORDERS),
            ("sa-pay5en", PAYMENTS),
            ("sa-web7tr", WEB),
            ("sa-an4lyt", WAREHOUSE),
            ("u-4nn4k1", LAB),
        )
    ]
    return [{"id": key["key"], "owner": key["owner"], "scope": key["scope"], "resources": key["resources"]} for key in [*every, *service]]

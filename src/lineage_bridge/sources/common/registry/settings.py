"""The settings of a schema registry."""

from pydantic import Field

from lineage_bridge.sources.common.settings import HttpSettings


class RegistrySettings(HttpSettings):
    """Settings of a schema registry. `/subjects` is appended to `url` (for Apicurio, `http://host:8080/apis/ccompat/v7`)."""

    kafka: str = Field(
        default="", description="a server (host:port) or the id of the Kafka cluster of the topics; empty: the only one known"
    )
    subjects: tuple[str, ...] = Field(default=("*",), description="patterns of subjects to observe (orders-*)")
    strategies: dict[str, str] = Field(
        default_factory=dict,
        description="for subjects whose names do not contain the topic: subject pattern to the topic of its records (orders, orders#key)",
    )
    catalog: bool = Field(default=False, description="also fetch tags from Confluent's Stream Catalog")
    deleted: bool = Field(default=False, description="also observe soft-deleted subjects")

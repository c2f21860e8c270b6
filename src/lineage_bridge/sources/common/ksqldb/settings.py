"""The settings of a ksqlDB server."""

from pydantic import Field

from lineage_bridge.sources.common.settings import HttpSettings


class KsqldbSettings(HttpSettings):
    """Settings of a ksqlDB server. `url`: the address of its REST API (`http://host:8088`)."""

    kafka: str = Field(
        default="", description="a server (host:port) of its Kafka cluster; empty: found in other sources by the cluster's id"
    )
    namespace: str = Field(default="", description="namespace of its queries and streams; empty: ksqldb://host:port of the address")

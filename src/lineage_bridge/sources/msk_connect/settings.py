"""The settings of a source for Amazon's MSK Connect."""

from pydantic import Field

from lineage_bridge.sources.common.aws.settings import AwsConnection
from lineage_bridge.sources.common.connect.settings import ConnectorSettings


class MskSettings(ConnectorSettings, AwsConnection):
    """Settings of a source for the connectors of an AWS account in a region. If no credentials are set here, the AWS SDK looks for
    credentials itself.
    """

    namespace: str = Field(default="", description="namespace of the jobs; empty: msk-connect://region/account")
    kafka: str = Field(default="", description="bootstrap servers of all connectors' Kafka cluster; empty: each connector's own")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls")

    @property
    def address(self) -> str:
        """The account and region, as far as the settings name them, which identify the observed system."""
        values = (self.endpoint_url, self.region, self.profile, self.access_key_id, self.role_arn)
        return f"msk-connect:{'/'.join(value for value in values if value)}"

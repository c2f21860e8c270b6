"""The settings of a source for Amazon's MSK Connect."""

import re
from typing import Any

from pydantic import Field, field_validator, model_validator

from lineage_bridge.sources.common.connect.settings import ConnectorSettings
from lineage_bridge.sources.common.settings import Secret, Url

_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/.+")


class MskSettings(ConnectorSettings):
    """The connectors of an account in a region. The AWS SDK finds the credentials, unless they are set here."""

    namespace: str = Field(default="", description="namespace of the jobs; empty: msk-connect://region/account")
    kafka: str = Field(default="", description="bootstrap servers of all connectors' Kafka cluster; empty: each connector's own")
    region: str = Field(default="", description="AWS region; empty: that of the environment or the profile")
    profile: str = Field(default="", description="profile of the AWS configuration files")
    access_key_id: str = Field(default="", description="access key id")
    secret_access_key: Secret | None = Field(default=None, description="secret access key, as a reference")
    role_arn: str = Field(default="", description="role to assume for all calls")
    external_id: str = Field(default="", description="external id that the role requires")
    endpoint_url: Url | None = Field(default=None, description="address of the API; empty: the region's")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls")

    @property
    def address(self) -> str:
        """The account and region, as far as the settings name them."""
        values = (self.endpoint_url, self.region, self.profile, self.access_key_id, self.role_arn)
        return f"msk-connect:{'/'.join(value for value in values if value)}"

    @field_validator("role_arn")
    @classmethod
    def _is_a_role(cls, arn: str) -> str:
        if arn and not _ROLE.fullmatch(arn):
            raise ValueError("a role must have the form arn:aws:iam::ACCOUNT:role/NAME")
        return arn

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if bool(self.access_key_id) != bool(self.secret_access_key):
            raise ValueError("set access_key_id and secret_access_key together")
        if self.access_key_id and self.profile:
            raise ValueError("set either a profile or an access key")
        return self

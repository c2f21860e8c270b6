"""The settings of an account and region of AWS."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from lineage_bridge.sources.common.settings import Secret, SourceSettings, Url

_ROLE = re.compile(r"arn:[\w-]+:iam::\d{12}:role/.+")
_SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}")
_STREAM = re.compile(r"(arn:[\w-]+:kinesis:[\w-]+:\d{12}:stream/)?[a-zA-Z0-9_.-]{1,128}")


def _role(arn: str) -> str:
    if arn and not _ROLE.fullmatch(arn):
        raise ValueError("a role must have the form arn:aws:iam::ACCOUNT:role/NAME")
    return arn


def _session_name(name: str) -> str:
    if name and not _SESSION_NAME.fullmatch(name):
        raise ValueError("a session name has 2 to 64 characters: letters, digits and _+=,.@-")
    return name


def _stream(value: str) -> str:
    if not _STREAM.fullmatch(value):
        raise ValueError("give the name of a stream, or its ARN")
    return value


KinesisStream = Annotated[str, AfterValidator(_stream)]
"""A stream of Kinesis, by its name or ARN."""


def stream_parameters(stream: str) -> dict[str, str]:
    """The parameters that name a stream in calls to Kinesis."""
    return {"StreamARN" if stream.startswith("arn:") else "StreamName": stream}


class AwsConnection(SourceSettings):
    """An AWS account and region. If no credentials are set here, the AWS SDK looks for credentials itself."""

    region: str = Field(default="", description="AWS region; empty: that of the environment or the profile")
    profile: str = Field(default="", description="profile of the AWS configuration files")
    access_key_id: str = Field(default="", description="access key id")
    secret_access_key: Secret | None = Field(default=None, description="secret access key, as a reference")
    session_token: Secret | None = Field(default=None, description="session token of temporary keys, as a reference")
    role_arn: Annotated[str, AfterValidator(_role)] = Field(default="", description="role to assume for all calls")
    external_id: str = Field(default="", description="external id that the role requires")
    role_session_name: Annotated[str, AfterValidator(_session_name)] = Field(
        default="", description="name of the session of the role; empty: lineage-bridge"
    )
    role_source_identity: Annotated[str, AfterValidator(_session_name)] = Field(
        default="", description="source identity to set when the role is assumed"
    )
    endpoint_url: Url | None = Field(default=None, description="address of the API; empty: the region's")
    sts_endpoint_url: Url | None = Field(default=None, description="address of the API that roles are assumed at; empty: the region's")

    @model_validator(mode="after")
    def _one_way_in_to_aws(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if bool(self.access_key_id) != bool(self.secret_access_key):
            raise ValueError("set both `access_key_id` and `secret_access_key`, or neither")
        if self.access_key_id and self.profile:
            raise ValueError("set either `profile` or `access_key_id`, not both")
        if self.session_token and not self.access_key_id:
            raise ValueError("`session_token` requires `access_key_id`")
        if (self.external_id or self.role_session_name or self.role_source_identity or self.sts_endpoint_url) and not self.role_arn:
            raise ValueError("`external_id`, `role_session_name`, `role_source_identity` and `sts_endpoint_url` require `role_arn`")
        return self

"""The kind of inputs that read a bucket of S3. The kind can be listed even if the AWS SDK is not installed."""

from typing import Any

from pydantic import Field, model_validator

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.files.settings import BucketSettings
from lineage_bridge.inputs.input import Input, InputKind
from lineage_bridge.sources.common.aws.settings import AwsConnection
from lineage_bridge.sources.common.settings import Url


class S3Settings(AwsConnection, BucketSettings):
    """Settings of an input: a bucket. Without keys, the AWS SDK looks for credentials itself: in environment variables, configuration
    files, and the role of the machine.
    """

    bucket: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", description="name of the bucket")
    anonymous: bool = Field(default=False, description="read a public bucket without credentials")
    endpoint_url: Url | None = Field(default=None, description="address of another store with the API of S3; empty: the region's")
    ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.anonymous and (self.access_key_id or self.role_arn or self.profile):
            raise ValueError("`anonymous` cannot be combined with `access_key_id`, `role_arn` or `profile`")
        return self


def make(name: str, settings: S3Settings, installation: str = "") -> Input[S3Settings]:
    """Create an input. Raises ConfigError without the optional dependencies."""
    try:
        from lineage_bridge.inputs.files.s3_bucket import S3Input  # noqa: PLC0415  # optional dependencies
    except ImportError as error:
        raise ConfigError("inputs of kind s3 require other packages", "install it with: pip install 'lineage-bridge[aws]'") from error
    return S3Input(name, settings, installation)


KIND = InputKind(S3Settings, make, "events in objects of Amazon S3, or of a store with its API", "s3")

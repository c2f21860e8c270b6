"""The kind of targets that publish to a stream of Kinesis. It can be listed even if the AWS SDK is not installed."""

from lineage_bridge.catalogs.kinds.kinesis.settings import KinesisTargetSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "kinesis", KinesisTargetSettings, "kinesis.kinesis_target:KinesisTarget", "aws", "a stream of Amazon Kinesis with OpenLineage events"
)

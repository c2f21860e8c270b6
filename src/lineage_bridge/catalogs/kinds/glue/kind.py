"""The kind of targets that publish to AWS Glue. It can be listed even if the AWS SDK is not installed."""

from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.catalogs.optional_kind import optional_kind

KIND = optional_kind(
    "glue", GlueSettings, "glue.glue_target:GlueTarget", "aws", "AWS Glue: lineage in the parameters of tables in a Data Catalog"
)

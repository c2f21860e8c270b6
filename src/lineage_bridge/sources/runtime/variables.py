"""Names of the environment variables that configure sources, whatever their kind."""

from lineage_bridge.sources.confluent import variables as confluent

VARIABLES = confluent.VARIABLES

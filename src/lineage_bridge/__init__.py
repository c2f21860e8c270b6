"""LineageBridge: the OpenLineage home for streaming."""

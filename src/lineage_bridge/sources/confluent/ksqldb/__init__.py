"""ksqlDB clusters."""

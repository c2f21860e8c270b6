"""ksqlDB: what servers answer, and the events that come of it."""

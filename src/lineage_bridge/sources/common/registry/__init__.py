"""Schema registries of Confluent's API: what they answer, and the events that come of it."""

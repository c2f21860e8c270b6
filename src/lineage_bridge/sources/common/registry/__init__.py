"""Schema registries with Confluent's API: their answers, and the events derived from them."""

"""Schema registries with Confluent's API: their answers, and the events that follow from them."""

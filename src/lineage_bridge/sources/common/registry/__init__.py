"""Schema registries with Confluent's API: their answers, and the events made of them."""

"""Schema registries of Confluent's API: Confluent's own, Apicurio, Karapace."""

"""Observes schema registries with Confluent's API: Confluent Schema Registry, Apicurio, Karapace."""

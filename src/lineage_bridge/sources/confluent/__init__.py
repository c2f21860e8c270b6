"""Confluent Cloud as a source: a composite of planes, each one listing of one scope with a credential of its own."""

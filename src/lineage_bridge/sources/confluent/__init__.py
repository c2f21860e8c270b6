"""The source for Confluent Cloud. It consists of planes: each plane observes one kind of resource in one scope with one credential."""

"""Reads the Stream Catalog of Confluent Cloud: tags, owners, descriptions and business metadata."""

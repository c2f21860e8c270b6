"""A stand-in of Confluent Cloud, and the organization that it serves."""

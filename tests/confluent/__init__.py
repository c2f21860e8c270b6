"""A stand-in of Confluent Cloud, and the estate that it serves."""

"""Reads Confluent Cloud's Metrics API: traffic, lag, and the clients that write and read."""

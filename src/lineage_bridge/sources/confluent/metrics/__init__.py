"""The Metrics API: traffic, lag, and the clients that write and read."""

"""What operators' tools see of the server: metrics, the ids of requests, a log of requests."""

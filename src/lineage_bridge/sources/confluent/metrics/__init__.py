"""The Metrics API: amounts, lag, and which clients write and read."""

"""ksqlDB: the answers of servers, and the events derived from them."""

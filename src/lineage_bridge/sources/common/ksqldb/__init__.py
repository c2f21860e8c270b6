"""ksqlDB: the answers of servers, and the events that follow from them."""

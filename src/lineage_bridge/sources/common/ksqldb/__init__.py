"""ksqlDB: the answers of servers, and the events made of them."""

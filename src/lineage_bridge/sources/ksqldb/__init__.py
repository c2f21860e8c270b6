"""ksqlDB servers: streams and tables as names of topics, persistent queries as jobs."""

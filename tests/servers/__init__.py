"""Real servers of the systems that LineageBridge speaks to: started by the run of the tests, on loopback, and stopped with it.

A test asks for a server by the name of its fixture; the first to ask starts it, and all tests of the run share it.
Each test takes names of its own: topics, users, connectors, tables. A test that asks for one is marked `servers`.

- `kafka`: a broker (`broker.Kafka`) with TLS, SASL, ACLs, and groups of every kind.
- `connect`: a worker of Kafka Connect on it (`connect.Connect`) with Debezium, file, JDBC and mirror connectors.
- `postgres`: a database whose changes can be captured (`postgres.Postgres`).
- `registry`: a schema registry with Confluent's API (`registry.Registry`).
- `flink`: a cluster with a SQL gateway, whose OpenLineage listener tells `event_sink` (`flink.FlinkCluster`).
- `faulty`: `faulty(url)` is a proxy before an HTTP server that fails on command (`faulty.Faulty`).
- `event_sink`: takes OpenLineage events over HTTP and tells them (`sink.EventSink`).
"""

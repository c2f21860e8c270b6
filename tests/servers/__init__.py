"""Real servers of the systems that LineageBridge connects to: started by the test run, on loopback, and stopped at its end.

A test requests a server by its fixture; the first request starts it, and all tests of the run share it.
Each test uses its own names: topics, users, connectors, tables. A test that requests a server is marked `servers`.

- `kafka`: a broker (`broker.Kafka`) with TLS, SASL, ACLs, and groups of every kind.
- `connect`: a worker of Kafka Connect on it (`connect.Connect`) with Debezium, file, JDBC and mirror connectors.
- `postgres`: a database whose changes can be captured (`postgres.Postgres`).
- `registry`: a schema registry with Confluent's API (`registry.Registry`).
- `flink`: a cluster with a SQL gateway, whose OpenLineage listener sends to `event_sink` (`flink.FlinkCluster`).
- `openid`: an OpenID provider whose keys and name a test chooses (`openid.OpenIdProvider`).
- `s3_store`, `gcs_store`, `azure_store`: object stores (`stores.ObjectStore`): moto, gcp-storage-emulator and Azurite.
- `faulty`: `faulty(url)` is a proxy before an HTTP server that fails on command (`faulty.Faulty`).
- `event_sink`: receives OpenLineage events over HTTP and keeps them (`sink.EventSink`).
"""

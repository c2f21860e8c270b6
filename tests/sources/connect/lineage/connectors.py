"""Two connectors of tests: one captures the changes of a table, one copies the topic to another table."""

CDC = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "db",
    "database.dbname": "shop",
    "topic.prefix": "cdc",
    "table.include.list": "public.people",
}
COPY = {
    "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
    "connection.url": "jdbc:postgresql://db/shop",
    "topics": "cdc.public.people",
    "collection.name.format": "copy",
}

"""What a configuration leaves to be filled in, whatever part of it is read: an address, a name, or a reader's own dataset."""

import pytest

from lineage_bridge.sources.common.connect.lineage.names import is_dataset
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.placeholders import is_left_open, is_open_address, open_parts


@pytest.mark.parametrize(
    "address",
    [
        *("s3://${BUCKET}", "s3://<bucket>", "s3://S3_BUCKET_NAME", "s3://your-bucket", "s3://xxx", "kafka://pkc-xxxxx.aws:9092"),
        *("jdbc:oracle:thin:@HOST:1521:x", "jdbc:oracle:thin:a/b@DB_HOST:1521/x", "mysql://clustername:3306", "https://TODO/x"),
        *("wasbs://data@account_name.dfs.core.windows.net", "h1:9092,REPLACE_ME:9092", "192.168.xxx.xxx"),
    ],
)
def test_an_address_that_is_to_be_filled_in_is_seen_by_everybody(address: str) -> None:
    assert is_open_address(address)
    assert is_left_open(address)


@pytest.mark.parametrize(
    "address",
    [
        *("s3://bucket", "mysql://db.your-server.de:3306", "postgres://localhost:5432", "mysql://hosting:3306", "https://x.xxx/films"),
        *(
            "jdbc:postgresql://db/shop?user=your_user",
            "jdbc:sqlserver://db;databaseName=shop;user=<user>",
            "wasbs://$web@a.dfs.core.windows.net",
        ),
    ],
)
def test_an_address_that_is_there_is_none(address: str) -> None:
    assert not is_open_address(address)


def test_parts_of_a_name_that_say_what_belongs_there() -> None:
    assert open_parts("shop.your_table") == ["your_table"]
    assert open_parts("xxx/TODO") == ["xxx", "TODO"]
    assert open_parts("shop.yours") == []


@pytest.mark.parametrize(
    "namespace",
    ["s3://S3_BUCKET_NAME", "mysql://clustername:3306", "nats://hostname:4222", "azurecosmos://a.documents.azure.com/dbs/your_database"],
)
def test_no_dataset_is_in_a_server_that_is_to_be_filled_in(namespace: str) -> None:
    assert not is_dataset((namespace, "orders"))


@pytest.mark.parametrize("bucket", ["S3_BUCKET_NAME", "your-bucket", "{{ bucket }}"])
def test_a_reader_that_names_its_own_dataset_names_none_there(bucket: str) -> None:
    source = {"connector.class": "org.apache.camel.kafkaconnector.aws2s3.CamelAws2s3SourceConnector", "topics": "orders"}
    assert resolve({**source, "camel.source.path.bucketNameOrArn": bucket}).datasets == ()
    folder = {"connector.class": "io.streamthoughts.kafka.connect.filepulse.source.FilePulseSourceConnector", "topic": "orders"}
    assert resolve({**folder, "aws.s3.bucket.name": bucket}).datasets == ()

"""Two implementations of Kinesis' API on loopback: moto's server, which has STS too, and kinesis-local, on Node.

moto is laxer than Amazon: it checks no sequence numbers, moves the records of shards that are split or merged into the new ones, and never
says that a shard ends.
kinesis-local keeps them where they are, checks sequence numbers, and ends shards.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from tests.ports import HOST, free_port, free_ports
from tests.servers import archives
from tests.servers.process import answers, listens, running

REGION = "us-east-1"
PROGRAM = Path(__file__).with_name("kinesis_local")
_MOST_HASH = 2**128
SOON_S = 60.0
MOST_PUT, MOST_PUT_BYTES = 400, 4 << 20
"""Records and bytes of one call; Kinesis takes 500 and 5 MiB."""


@dataclass(frozen=True)
class Kinesis:
    """A server of Kinesis' API at `url`; `tls_url` is the same with a certificate that nobody signed, or empty."""

    url: str
    tls_url: str = ""

    def client(self, service: str = "kinesis") -> Any:
        """A client of the AWS SDK."""
        keys = {"aws_access_key_id": "AKIATEST", "aws_secret_access_key": "secret"}
        return boto3.client(service, region_name=REGION, endpoint_url=self.url, **keys)

    def create(self, name: str, shards: int = 1) -> None:
        """Create a stream, and wait until it can be used."""
        self.client().create_stream(StreamName=name, ShardCount=shards)
        self.wait_until_active(name)

    def delete(self, name: str) -> None:
        """Delete a stream, and wait until it is gone."""
        client = self.client()
        client.delete_stream(StreamName=name)
        deadline = time.monotonic() + SOON_S
        while name in client.list_streams()["StreamNames"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def wait_until_active(self, name: str) -> None:
        """Wait until the stream is as it was asked to be."""
        client, deadline = self.client(), time.monotonic() + SOON_S
        while client.describe_stream_summary(StreamName=name)["StreamDescriptionSummary"]["StreamStatus"] != "ACTIVE":
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def shards(self, name: str) -> list[dict[str, Any]]:
        """The shards of a stream, as the API lists them."""
        found: list[dict[str, Any]] = self.client().list_shards(StreamName=name)["Shards"]
        return found

    def split(self, name: str, shard: str) -> None:
        """Split a shard in the middle."""
        keys = next(found["HashKeyRange"] for found in self.shards(name) if found["ShardId"] == shard)
        middle = (int(keys["StartingHashKey"]) + int(keys["EndingHashKey"])) // 2 + 1
        self.client().split_shard(StreamName=name, ShardToSplit=shard, NewStartingHashKey=str(middle))
        self.wait_until_active(name)

    def merge(self, name: str, first: str, second: str) -> None:
        """Merge two shards."""
        self.client().merge_shards(StreamName=name, ShardToMerge=first, AdjacentShardToMerge=second)
        self.wait_until_active(name)

    def put(self, name: str, values: Sequence[bytes], key: str = "key", *, at: float | None = None) -> None:
        """Write records in order; `at` (0 to 1) is where in the range of hash keys they belong, instead of the key's place."""
        client = self.client()
        more = {} if at is None else {"ExplicitHashKey": str(min(int(at * _MOST_HASH), _MOST_HASH - 2**100))}
        count = max(1, min(MOST_PUT, MOST_PUT_BYTES // max(map(len, values), default=1)))
        for start in range(0, len(values), count):
            records = [{"Data": value, "PartitionKey": key, **more} for value in values[start : start + count]]
            assert client.put_records(StreamName=name, Records=records)["FailedRecordCount"] == 0

    def records(self, name: str) -> list[dict[str, Any]]:
        """The records of all shards of a stream, in the order of their arrival."""
        client = self.client()
        found: list[dict[str, Any]] = []
        for shard in self.shards(name):
            start = {"StreamName": name, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            iterator, behind = client.get_shard_iterator(**start)["ShardIterator"], 1
            while iterator and behind:
                answer = client.get_records(ShardIterator=iterator)
                found += answer["Records"]
                iterator, behind = answer.get("NextShardIterator"), answer["MillisBehindLatest"]
        return sorted(found, key=lambda record: (record["ApproximateArrivalTimestamp"], int(record["SequenceNumber"])))


@contextmanager
def moto_started(folder: Path) -> Iterator[Kinesis]:
    """moto's server."""
    port = free_port()
    program = "import sys; from moto.server import main; main(sys.argv[1:])"
    command = [sys.executable, "-W", "ignore", "-c", program, "-H", HOST, "-p", str(port)]
    with running("moto", command, folder, environment={"PYTHONPATH": str(archives.installed("moto"))}) as process:
        process.wait_until(lambda: answers(f"http://{HOST}:{port}/moto-api/"))
        yield Kinesis(f"http://{HOST}:{port}")


def _install(home: Path) -> None:
    assert shutil.which("npm"), "kinesis-local needs Node 20 or newer, with npm"
    home.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PROGRAM / name, home)
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "ci", *options], cwd=home, check=True)


@contextmanager
def local_started(folder: Path) -> Iterator[Kinesis]:
    """kinesis-local, whose streams change within a tenth of a second."""
    package = archives.made("kinesis-local", [PROGRAM / "package-lock.json"], _install) / "node_modules" / "kinesis-local"
    tls, plain = free_ports(2)
    changes = ("CREATE_STREAM", "DELETE_STREAM", "MERGE_SHARDS", "SPLIT_SHARD")
    environment = {"KINESIS_MOCK_TLS_PORT": str(tls), "KINESIS_MOCK_PLAIN_PORT": str(plain), "LOG_LEVEL": "WARN"}
    environment |= {"KINESIS_MOCK_CERT_PATH": str(package / "server.json"), "SHARD_LIMIT": "500"}
    environment |= {f"{change}_DURATION": "100ms" for change in changes}
    with running("kinesis-local", ["node", package / "main.js"], folder, environment=environment) as process:
        process.wait_until(lambda: listens(plain))
        yield Kinesis(f"http://{HOST}:{plain}", f"https://{HOST}:{tls}")

"""Apache Kafka: one process that is broker and controller, with a listener for each way in."""

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.process import Process, class_path, java, listens, log_settings, properties, running
from tests.servers.web import tls
from tests.servers.web.openid import DEFAULT_AUDIENCE, Key, made_key

CLUSTER_ID = "bGluZWFnZS1icmlkZ2UtMQ"
ADMIN, LIMITED = "admin", "limited"
ISSUER, TOKEN_KEYS = "https://issuer.example", "token-keys.json"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# What a client says to come in: a protocol, and how it tells who it is. `plaintext` and `ssl` are anonymous and may do all.
WAYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "plaintext": ("PLAINTEXT", ""),
        "ssl": ("SSL", ""),
        "mtls": ("SSL", ""),
        "plain": ("SASL_PLAINTEXT", "PLAIN"),
        "scram": ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
        "scram-512": ("SASL_PLAINTEXT", "SCRAM-SHA-512"),
        "plain-ssl": ("SASL_SSL", "PLAIN"),
        "scram-ssl": ("SASL_SSL", "SCRAM-SHA-512"),
    }
)
# What the application that counts words reads and writes.
TEXTS, COUNTS = "streams-plaintext-input", "streams-wordcount-output"
TIMEOUT_S = 30.0


def password_of(user: str) -> str:
    """What every user of this broker has as a password."""
    return f"{user}-secret"


@dataclass(frozen=True)
class Kafka:
    """A broker that is ready. ADMIN may do all, LIMITED and users made later what `allow` gave them; the fixed two know PLAIN too.

    It believes access tokens of ISSUER that are signed with `token_key`: their subject is the user.
    """

    cluster_id: str
    ports: Mapping[str, int]
    tls: tls.Tls
    folder: Path
    libraries: Sequence[Path]
    token_key: Key

    @property
    def bootstrap(self) -> str:
        """Where the open listener is."""
        return self.address("plaintext")

    def address(self, way: str) -> str:
        """Where the listener of one of `WAYS` is."""
        return f"{HOST}:{self.ports[WAYS[way][0]]}"

    def client_config(self, way: str = "plaintext", user: str = ADMIN, password: str | None = None) -> dict[str, str | int | float | bool]:
        """librdkafka's settings for connecting by one of `WAYS`."""
        protocol, mechanism = WAYS[way]
        config: dict[str, str | int | float | bool] = {"bootstrap.servers": self.address(way), "security.protocol": protocol}
        if protocol.endswith("SSL"):
            config["ssl.ca.location"] = str(self.tls.authority)
        if way == "mtls":
            config |= {"ssl.key.location": str(self.tls.client_key), "ssl.certificate.location": str(self.tls.client_certificate)}
        if mechanism:
            secret = password_of(user) if password is None else password
            config |= {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": secret}
        return config

    def admin(self, way: str = "plaintext", user: str = ADMIN) -> AdminClient:
        """A client that asks and orders."""
        # Clients that outlive their broker would complain of it.
        return AdminClient({**self.client_config(way, user), "log_level": 0})

    def create_topics(self, *names: str, partitions: int = 1, **config: str) -> None:
        """Makes topics; underscores in the names of settings stand for dots."""
        settings = {name.replace("_", "."): value for name, value in config.items()}
        admin = self.admin()
        _all_done(admin.create_topics([NewTopic(name, partitions, 1, config=settings) for name in names]))
        _until(lambda: set(names) <= admin.list_topics(timeout=TIMEOUT_S).topics.keys())

    def add_user(self, name: str) -> str:
        """Makes a user who may do nothing yet and comes in by SCRAM; returns the name."""
        admin = self.admin()
        # One order for each: the broker takes no two for a user at once.
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            credential = UserScramCredentialUpsertion(name, ScramCredentialInfo(mechanism, 4096), password_of(name).encode())
            _all_done(admin.alter_user_scram_credentials([credential]))
        _until(lambda: _scram_mechanisms(admin, name) == 2)
        return name

    def allow(self, user: str, kind: str, name: str, *operations: str, denied_from: str = "") -> None:
        """Lets a user do something: `allow("limited", "topic", "orders", "describe")`. The kind is topic, group or broker. With a host,
        denies it from there instead.
        """
        rules = [
            AclBinding(
                ResourceType[kind.upper()],
                name,
                ResourcePatternType.LITERAL,
                f"User:{user}",
                denied_from or "*",
                AclOperation[operation.upper()],
                AclPermissionType.DENY if denied_from else AclPermissionType.ALLOW,
            )
            for operation in operations
        ]
        admin = self.admin()
        _all_done(admin.create_acls(rules))
        operation, permission = AclOperation.ANY, AclPermissionType.ANY
        bindings: tuple[Any, ...] = (ResourceType.ANY, None, ResourcePatternType.ANY, f"User:{user}", None, operation, permission)
        _until(lambda: set(rules) <= set(admin.describe_acls(AclBindingFilter(*bindings)).result(TIMEOUT_S)))

    def produce(self, topic: str, values: Iterable[bytes | str], key: bytes | str | None = None) -> None:
        """Writes records; returns once the broker has them."""
        producer = Producer(self.client_config())
        for value in values:
            producer.produce(topic, value, key)
        assert producer.flush(TIMEOUT_S) == 0

    def consume(self, topic: str, count: int, group: str = "", seconds: float = 60.0, **more: str) -> list[bytes | None]:
        """The values of the first records of a topic, `count` of them; the topic itself may yet come.

        A group, if named, is joined and its offsets are committed. `more` are further settings of librdkafka.
        """
        config = {**self.client_config(), "auto.offset.reset": "earliest", "enable.auto.commit": False, **more}
        consumer = Consumer({**config, "group.id": group or "none"})
        if group:
            consumer.subscribe([topic])
        else:
            _until(lambda: topic in consumer.list_topics(timeout=TIMEOUT_S).topics, seconds)
            partitions = consumer.list_topics(topic, TIMEOUT_S).topics[topic].partitions
            consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
        values: list[bytes | None] = []
        deadline = time.monotonic() + seconds
        try:
            while len(values) < count:
                assert time.monotonic() < deadline, f"{len(values)} of {count} records in {topic}"
                record = consumer.poll(1)
                if record is not None and not record.error():
                    values.append(record.value())
            if group:
                consumer.commit(asynchronous=False)
        finally:
            consumer.close()
        return values

    @contextmanager
    def program(self, name: str, main: str, *arguments: str | Path, heap: str = "128m") -> Iterator[Process]:
        """A program of Kafka's own archives that runs beside the test."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        command = java(heap, log_settings(folder), "-cp", class_path(self.libraries), main, *map(str, arguments))
        with running(name, command, folder) as process:
            yield process

    @contextmanager
    def word_count(self, application: str) -> Iterator[Process]:
        """A Kafka Streams application that runs: its group, named as it is, is of the streams protocol.

        It reads TEXTS and writes COUNTS, which it creates if they are missing, and a topic for its state.
        """
        existing = self.admin().list_topics(timeout=TIMEOUT_S).topics
        if missing := [topic for topic in (TEXTS, COUNTS) if topic not in existing]:
            self.create_topics(*missing)
        stores = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"
        settings = {
            "bootstrap.servers": self.bootstrap,
            "application.id": application,
            "group.protocol": "streams",
            "dsl.store.suppliers.class": stores,
            "commit.interval.ms": 200,
            "state.dir": self.folder / application,
        }
        main = "org.apache.kafka.streams.examples.wordcount.WordCountDemo"
        with self.program(application, main, properties(self.folder, application, settings)) as process:
            yield process


def _all_done(orders: "Mapping[Any, Future[Any]]") -> None:
    """Wait for the requests of a client. Keep a reference to the client meanwhile: a collected client cancels its requests."""
    for done in orders.values():
        done.result(TIMEOUT_S)


def _scram_mechanisms(admin: AdminClient, user: str) -> int:
    answers = admin.describe_user_scram_credentials([user])
    assert isinstance(answers, dict)
    return len(answers[user].result(TIMEOUT_S).scram_credential_infos)


def _until(seen: Callable[[], bool], seconds: float = TIMEOUT_S) -> None:
    """Waits until the broker has seen what its controller has decided."""
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _settings(ports: Mapping[str, int], folder: Path, files: tls.Tls) -> dict[str, object]:
    listeners = ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items())
    plain = " ".join(f'user_{user}="{password_of(user)}"' for user in (ADMIN, LIMITED))
    login = "org.apache.kafka.common.security"
    settings: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{ports['CONTROLLER']}",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": listeners,
        "listener.security.protocol.map": ",".join(f"{name}:{'PLAINTEXT' if name == 'CONTROLLER' else name}" for name in ports),
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": 0,
        "group.consumer.heartbeat.interval.ms": 1000,
        "group.consumer.min.heartbeat.interval.ms": 1000,
        "group.share.heartbeat.interval.ms": 1000,
        "group.share.min.heartbeat.interval.ms": 1000,
        "group.streams.heartbeat.interval.ms": 1000,
        "group.streams.min.heartbeat.interval.ms": 1000,
        "log.segment.bytes": 16 << 20,
        "log.index.size.max.bytes": 1 << 20,
        "log.cleaner.dedupe.buffer.size": 16 << 20,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN};User:ANONYMOUS",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": files.server,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": files.authority,
        "ssl.client.auth": "requested",
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
    }
    for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        settings |= {f"{topic}.replication.factor": 1, f"{topic}.num.partitions": 2}
    tokens = {"jwks.endpoint.url": (folder / TOKEN_KEYS).as_uri(), "expected.issuer": ISSUER, "expected.audience": DEFAULT_AUDIENCE}
    settings |= {f"sasl.oauthbearer.{name}": value for name, value in tokens.items()}
    settings |= {"transaction.state.log.min.isr": 1, "share.coordinator.state.topic.min.isr": 1}
    for listener in ("sasl_plaintext", "sasl_ssl"):
        settings[f"listener.name.{listener}.plain.sasl.jaas.config"] = f"{login}.plain.PlainLoginModule required {plain};"
        bearer = f"listener.name.{listener}.oauthbearer.sasl"
        settings[f"{bearer}.jaas.config"] = f"{login}.oauthbearer.OAuthBearerLoginModule required;"
        settings[f"{bearer}.server.callback.handler.class"] = f"{login}.oauthbearer.OAuthBearerValidatorCallbackHandler"
        for mechanism in ("scram-sha-256", "scram-sha-512"):
            settings[f"listener.name.{listener}.{mechanism}.sasl.jaas.config"] = f"{login}.scram.ScramLoginModule required;"
    return settings


def _format(libraries: Sequence[Path], settings: Path, folder: Path, cluster_id: str) -> None:
    users = [
        f"{mechanism}=[name={user},password={password_of(user)}]"
        for user in (ADMIN, LIMITED)
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    ]
    command = java("128m", log_settings(folder), "-cp", class_path(libraries), "kafka.tools.StorageTool", "format")
    command += ["--cluster-id", cluster_id, "--config", str(settings)]
    command += [argument for user in users for argument in ("--add-scram", user)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _command(folder: Path, libraries: Sequence[Path]) -> list[str]:
    # Kafka opens only addresses of keys that it is allowed to by such a property.
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={(folder / TOKEN_KEYS).as_uri()}"
    return java("384m", log_settings(folder), allowed, "-cp", class_path(libraries), "kafka.Kafka", str(folder / "server.properties"))


@contextmanager
def started(folder: Path, cluster_id: str = CLUSTER_ID) -> Iterator[Kafka]:
    """A broker that takes clients, over a fresh folder. Clusters that run together need ids of their own: 22 letters of base64."""
    libraries = [*archives.jars("kafka"), *archives.jars("kafka-streams")]
    ports = dict(zip((*PROTOCOLS, "CONTROLLER"), free_ports(len(PROTOCOLS) + 1), strict=True))
    files = tls.made_in(folder)
    key = made_key("RS256", "tokens")
    (folder / TOKEN_KEYS).write_text(json.dumps({"keys": [key.as_dict(private=False)]}), encoding="utf-8")
    settings = properties(folder, "server", _settings(ports, folder, files))
    _format(libraries, settings, folder, cluster_id)
    with running("kafka", _command(folder, libraries), folder) as process:
        process.wait_until(lambda: process.has_logged("Kafka Server started") and listens(ports["SASL_SSL"]))
        yield Kafka(cluster_id, MappingProxyType(ports), files, folder, libraries, key)


@contextmanager
def started_again(kafka: Kafka) -> Iterator[Kafka]:
    """A broker that was stopped, with what it had."""
    with running("kafka", _command(kafka.folder, kafka.libraries), kafka.folder) as process:
        process.wait_until(lambda: process.has_logged("Kafka Server started") and listens(kafka.ports["SASL_SSL"]))
        yield kafka

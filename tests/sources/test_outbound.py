"""Where sources may connect to: the policy, and real connections that it closes before anything is sent."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.corpora.spellings import METADATA, SPELT

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.kafka.protocol.login import Tokens, records_config
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.settings import HttpSettings, SourceContext
from lineage_bridge.sources.runtime.metadata_cache import make_observer

ONLY_TEN = SourceContext(outbound=Outbound.parse("10.0.0.0/8"))


@pytest.mark.parametrize("address", METADATA)
def test_addresses_of_metadata_and_of_the_link_are_refused_unless_written_as_a_network(address: str) -> None:
    for policy in (Outbound(), Outbound.parse("*"), Outbound.parse("10.0.0.0/8,*.example.com")):
        with pytest.raises(SourceError, match="may not be called"):
            policy.check("host.example.com", address)
    Outbound.parse("169.254.0.0/16, fe80::/10, fd00::/8, 100.100.100.200, 168.63.129.16, 0.0.0.0/32, ::/128, 224.0.0.0/4").check(
        "h", address
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.7", "8.8.8.8", "fd12::1", "2001:db8::1"])
def test_other_addresses_are_allowed(address: str) -> None:
    Outbound().check("host", address)


def test_with_a_list_only_its_networks_and_names_are_allowed() -> None:
    policy = Outbound.parse("10.0.0.0/8, *.example.com, [fd12::1]")
    for host, address in (("anything", "10.9.9.9"), ("a.Example.com.", "8.8.8.8"), ("x", "fd12::1"), ("x", "::ffff:10.0.0.1")):
        policy.check(host, address)
    for host, address in (("example.com", "8.8.8.8"), ("a.example.com.evil.net", "8.8.8.8"), ("x", "127.0.0.1"), ("x", "fd12::2")):
        with pytest.raises(SourceError, match="not among the addresses"):
            policy.check(host, address)
    with pytest.raises(ValueError, match=r"10\.0\.0\.1/8"):
        Outbound.parse("10.0.0.1/8")


@pytest.mark.parametrize("host", SPELT)
def test_a_source_with_a_refused_address_is_not_added(host: str) -> None:
    for kind, settings in (("connect", {"url": f"http://{host}:8083"}), ("kafka", {"bootstrap_servers": f"fine:9092,{host}:9092"})):
        with pytest.raises(ConfigError, match="may not be called; an operator can allow"):
            make_observer("s", kind, settings)


@pytest.mark.parametrize(
    "url",
    [
        *("file:///x", "gopher://h:6379/_x", "ftp://h/", "dict://h/", "//h/", "http:h", "http:/h", "http:///h", "javascript:x"),
        *("unix:///run/x.sock", "http+unix://%2frun%2fx.sock/", "jar:http://h!/", "netdoc:///x", " http://h", "http://h\r\nX: y"),
        *("http://h/\nx", "http://h\t/", "http://h\0/", "http://169.254.169.254@h/", "http://h@169.254.169.254/", "http://h:80:80/"),
        *("http://h\\@169.254.169.254/", "http://:@0/"),
    ],
)
def test_an_address_that_is_no_plain_web_address_is_not_added(url: str) -> None:
    for kind in ("connect", "flink", "ksqldb", "registry"):
        with pytest.raises(ConfigError, match="setting url"):
            make_observer("s", kind, {"url": url})


_LAST = b"the last one"


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server that only reads: its port, and what each connection sent until it was closed."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def read() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(10)
                    data = connection.recv(65_536)
                if data == _LAST:
                    return
                received.append(data)

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield server.getsockname()[1], received
        finally:
            # Connections are accepted in their order, so this one comes after all others.
            with socket.create_connection(server.getsockname()) as last:
                last.sendall(_LAST)
            thread.join(20)


def test_no_client_sends_anything_to_an_address_that_is_not_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUSH", "hush")
    with listener() as (port, received):
        client = HttpClient(HttpSettings.model_validate({"url": f"http://localhost:{port}", "token": "${env:HUSH}"}, context=ONLY_TEN))
        with pytest.raises(SourceError, match=r"localhost \(127.0.0.1\) is not among the addresses that may be called"):
            client.get("/")
        client.close()
        cluster = {
            "bootstrap_servers": f"localhost:{port}",
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "oauth_token_url": f"http://localhost:{port}/token",
            "oauth_client_id": "me",
            "oauth_client_secret": "${env:HUSH}",
        }
        settings = KafkaSettings.model_validate(cluster, context=ONLY_TEN)
        with pytest.raises(SourceError, match="not among the addresses"):
            Tokens(settings).token()
        with pytest.raises(SourceError, match="not among the addresses"):
            KafkaProtocol(settings).__enter__()
        with pytest.raises(SourceError, match="not among the addresses"):
            records_config(settings)
    assert received == [b""] * len(received)
    assert len(received) >= 3


def test_a_redirect_is_not_followed() -> None:
    with listener() as (target, received), socket.create_server(("127.0.0.1", 0)) as server:

        def redirect() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{target}/\r\nContent-Length: 0\r\n\r\n".encode())

        thread = threading.Thread(target=redirect)
        thread.start()
        client = HttpClient(HttpSettings(url=f"http://127.0.0.1:{server.getsockname()[1]}"))
        with pytest.raises(SourceError, match="answered 302"):
            client.get("/")
        client.close()
        thread.join(20)
    assert received == []

"""Certificates: what a server shows, how they are replaced while it runs, and what its clients trust."""

import os
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from lineage_bridge.config.tls import ServerCertificate, own_server_context, remote_server_context
from lineage_bridge.errors import ConfigError


def files(folder: Path, authority: trustme.CA, name: str = "host.example") -> tuple[Path, Path]:
    issued = authority.issue_cert(name)
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(part.bytes() for part in (*issued.cert_chain_pems, authority.cert_pem)))
    key.write_bytes(issued.private_key_pem.bytes())
    for path in (chain, key):
        os.utime(path, ns=(len(chain.read_bytes()), path.stat().st_mtime_ns + 1))
    return chain, key


def shown(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> bytes:
    """The certificate that a client sees. Raises ssl.SSLError as the client does."""
    near, far = socket.socketpair()

    def answer() -> None:
        try:
            with server.wrap_socket(far, server_side=True) as connection:
                connection.recv(1)
        except OSError:
            far.close()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with client.wrap_socket(near, server_hostname=name) as connection:
            found = connection.getpeercert(binary_form=True)
            assert found is not None
            return found
    finally:
        near.close()
        thread.join(10)


@pytest.fixture
def trusting(tmp_path: Path) -> Callable[[trustme.CA], ssl.SSLContext]:
    def context(authority: trustme.CA) -> ssl.SSLContext:
        path = tmp_path / "authority.pem"
        authority.cert_pem.write_to_path(str(path))
        return remote_server_context(path)

    return context


def test_a_renewed_certificate_is_shown_to_new_connections(tmp_path: Path, trusting: Callable[[trustme.CA], ssl.SSLContext]) -> None:
    authority = trustme.CA()
    chain, key = files(tmp_path, authority)
    server, client = ServerCertificate(chain, key), trusting(authority)
    first = shown(server.context, client, "host.example")
    assert not server.reload()
    files(tmp_path, authority)
    assert server.reload()
    assert not server.reload()
    second = shown(server.context, client, "host.example")
    assert second != first
    assert second == ssl.PEM_cert_to_DER_cert(chain.read_text().partition("-----END")[0] + "-----END CERTIFICATE-----\n")


def test_files_that_do_not_fit_together_change_nothing_until_they_do(
    tmp_path: Path, trusting: Callable[[trustme.CA], ssl.SSLContext], caplog: pytest.LogCaptureFixture
) -> None:
    authority = trustme.CA()
    chain, key = files(tmp_path, authority)
    server, client = ServerCertificate(chain, key), trusting(authority)
    first = shown(server.context, client, "host.example")
    renewed = authority.issue_cert("host.example")
    chain.write_bytes(renewed.cert_chain_pems[0].bytes())  # the key is still the old one
    assert not server.reload()
    assert not server.reload()
    assert caplog.text.count("stays in use") == 1
    assert shown(server.context, client, "host.example") == first
    key.write_bytes(renewed.private_key_pem.bytes())
    assert server.reload()
    assert shown(server.context, client, "host.example") != first
    key.unlink()
    assert not server.reload()


def test_own_programs_trust_this_certificate_only(tmp_path: Path) -> None:
    authority = trustme.CA()
    chain, key = files(tmp_path, authority, "lineage.example")
    own = own_server_context(chain)
    shown(ServerCertificate(chain, key).context, own, "127.0.0.1")
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(ssl.SSLCertVerificationError):
        shown(ServerCertificate(*files(other, authority, "lineage.example")).context, own, "127.0.0.1")


def test_others_are_trusted_by_authority_and_name(tmp_path: Path, trusting: Callable[[trustme.CA], ssl.SSLContext]) -> None:
    authority = trustme.CA()
    server = ServerCertificate(*files(tmp_path, authority)).context
    shown(server, trusting(authority), "host.example")
    for client, name in ((trusting(authority), "elsewhere.example"), (remote_server_context(None), "host.example")):
        with pytest.raises(ssl.SSLCertVerificationError):
            shown(server, client, name)
    assert server.minimum_version == ssl.TLSVersion.TLSv1_2


def test_unusable_files_are_named(tmp_path: Path) -> None:
    chain, key = files(tmp_path, trustme.CA())
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    for certificate, private in ((tmp_path / "none.pem", key), (text, key), (chain, text), (key, key)):
        with pytest.raises(ConfigError, match="TLS cannot use"):
            ServerCertificate(certificate, private)
    for path in (tmp_path / "none.pem", text):
        with pytest.raises(ConfigError, match=path.name):
            own_server_context(path)
        with pytest.raises(ConfigError, match=path.name):
            remote_server_context(path)

"""Connections that do not begin to speak TLS, or do not finish."""

import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import trustme
import uvicorn

from lineage_bridge.api.web.handshakes import ServerConfig


async def unreached(scope: Any, *_: Any) -> None:
    """No request comes as far as this."""
    raise AssertionError(scope)


def test_a_handshake_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    certificate = trustme.CA().issue_cert("localhost")
    chain = tmp_path / "chain.pem"
    chain.write_bytes(certificate.private_key_pem.bytes() + certificate.cert_chain_pems[0].bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    config = ServerConfig(unreached, lifespan="off", log_config=None, ssl_context_factory=lambda *_: context)
    config.handshake_s = 0.3
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            for sent in (b"", b"\x16\x03\x01\x02\x00\x01"):
                with socket.create_connection(listener.getsockname(), timeout=30) as connection:
                    connection.sendall(sent)
                    assert connection.recv(100) == b"", "closed before uvicorn's minute is over"
        finally:
            server.should_exit = True
            thread.join()

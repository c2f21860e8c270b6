"""Connections of Amazon's clients, which are closed before anything is sent if their address may not be called."""

import socket
from typing import Any

from botocore.awsrequest import AWSHTTPConnection, AWSHTTPConnectionPool, AWSHTTPSConnection, AWSHTTPSConnectionPool

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import SourceError


def check_connections(client: Any, outbound: Outbound) -> None:  # noqa: ANN401  # botocore creates its client classes at run time
    """Have a client make only connections to addresses that may be called; others raise SourceError.

    A proxy of the environment is left as it is: it connects in the client's place.
    """

    def checked(connection: Any, made: socket.socket) -> socket.socket:  # noqa: ANN401  # urllib3's
        try:
            outbound.check(connection.host, str(made.getpeername()[0]))
        except (OSError, SourceError):
            made.close()
            raise
        return made

    class Plain(AWSHTTPConnection):  # type: ignore[misc]  # it ships no types
        def _new_conn(self) -> socket.socket:
            return checked(self, super()._new_conn())

    class Encrypted(AWSHTTPSConnection):  # type: ignore[misc]  # as above
        def _new_conn(self) -> socket.socket:
            return checked(self, super()._new_conn())

    class PlainPool(AWSHTTPConnectionPool):  # type: ignore[misc]  # as above
        ConnectionCls = Plain

    class EncryptedPool(AWSHTTPSConnectionPool):  # type: ignore[misc]  # as above
        ConnectionCls = Encrypted

    manager = client._endpoint.http_session._manager  # noqa: SLF001  # botocore has no other way to its connections
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": EncryptedPool}

"""Checks the address of every connection that a client of Amazon's APIs opens. If the address may not be called, the connection is closed
before anything is sent.
"""

import socket
from typing import Any

from botocore.awsrequest import AWSHTTPConnection, AWSHTTPConnectionPool, AWSHTTPSConnection, AWSHTTPSConnectionPool

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import SourceError


def check_connections(client: Any, outbound: Outbound) -> None:  # noqa: ANN401  # botocore creates its client classes at run time
    """Make a client check the address of each connection that it opens. Raises SourceError, from the client's call, for an address that
    may not be called.

    Connections to a proxy that the environment names are not checked: the proxy connects in the client's place.
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

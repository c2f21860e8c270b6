"""What the web server does differently from uvicorn: it limits the time of TLS handshakes, and ends streams when it ends."""

from asyncio import AbstractServer
from collections.abc import Callable
from functools import partial
from socket import socket
from typing import Any

import uvloop
from uvicorn import Config, Server


class ImpatientLoop(uvloop.Loop):
    """An event loop whose servers close a connection if its TLS handshake is not complete after `handshake_s` seconds."""

    def __init__(self, handshake_s: float) -> None:
        super().__init__()
        self._handshake_s = handshake_s

    async def create_server(  # type: ignore[override]  # any of asyncio's forms
        self,
        *arguments: Any,  # noqa: ANN401 - asyncio's
        **options: Any,  # noqa: ANN401 - asyncio's
    ) -> AbstractServer:
        """Create a server. The time limit only applies if it uses TLS."""
        if options.get("ssl"):
            options["ssl_handshake_timeout"] = self._handshake_s
        return await super().create_server(*arguments, **options)


class ServerConfig(Config):
    """uvicorn's configuration with a time limit for TLS handshakes, for which uvicorn has no setting."""

    handshake_s = 10.0

    def get_loop_factory(self) -> Callable[[], ImpatientLoop]:
        """The factory of the server's event loop."""
        return partial(ImpatientLoop, self.handshake_s)


class EndingServer(Server):
    """uvicorn's server, which ends streams before it waits for answers to be complete."""

    def __init__(self, config: Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """Close all connections, as soon as their answers are complete."""
        self._end_streams()
        await super().shutdown(sockets)

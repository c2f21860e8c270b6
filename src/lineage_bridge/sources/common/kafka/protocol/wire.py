"""Sends requests of Kafka's protocol to the brokers that can answer them."""

import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from kafka import errors as kafka_errors
from kafka.net.connection import KafkaConnection
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest, SaslHandshakeResponse
from typing_extensions import Self

from lineage_bridge.config.outbound import ANYWHERE, Outbound
from lineage_bridge.errors import ForbiddenError, LineageBridgeError, MissingError, SourceError, UnreachableError
from lineage_bridge.sources.common.kafka.protocol.login import protocol_config
from lineage_bridge.sources.common.kafka.settings import KafkaSettings

logging.getLogger("kafka").setLevel(logging.CRITICAL)  # failures are raised as errors of LineageBridge

_THROTTLED_S = 0.1
_LOGIN = "check `sasl_mechanism` and the credentials"


_KINDS: tuple[tuple[tuple[type[Exception], ...], type[SourceError], str], ...] = (
    ((kafka_errors.SaslAuthenticationFailedError, kafka_errors.IllegalSaslStateError), ForbiddenError, "the broker refuses the login"),
    ((kafka_errors.UnsupportedSaslMechanismError,), ForbiddenError, "the broker does not support this mechanism"),
    ((kafka_errors.AuthorizationError,), ForbiddenError, "the broker denies the permission"),
    (
        (kafka_errors.IncompatibleBrokerVersion, kafka_errors.UnsupportedVersionError),
        MissingError,
        "the broker's version does not support the request",
    ),
    ((kafka_errors.KafkaConnectionError, kafka_errors.KafkaTimeoutError), UnreachableError, "no answer"),
    ((kafka_errors.NodeNotReadyError, OSError), UnreachableError, "no answer"),
)


def source_error(error: Exception) -> SourceError:
    """Convert an error of kafka-python to the SourceError that a source raises."""
    if isinstance(error, SourceError):
        return error
    for kinds, kind, what in _KINDS:
        if isinstance(error, kinds):
            return kind(f"{what}: {_message(error)}", _LOGIN if kind is ForbiddenError else "")
    return SourceError(f"{type(error).__name__}: {_message(error)}")


def _message(error: Exception) -> str:
    return str(error.args[0]) if error.args and not isinstance(error, kafka_errors.NodeNotReadyError) else type(error).__name__


def error_name(code: int) -> str:
    """The name of an error code of Kafka's protocol, such as `TopicAuthorizationFailedError`."""
    return str(kafka_errors.for_code(code).__name__)


class _Connection(KafkaConnection):  # type: ignore[misc]  # a class without types
    """A connection to a broker that reports why a login failed.

    The broker closes the connection right after it refuses a login. kafka-python then reports only the closed connection, often without
    having read the refusal.
    """

    refusal: Exception | None = None
    outbound: Outbound = ANYWHERE

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  # as below
        """Check the address of the broker when the connection is open. Raises SourceError for one that may not be called; the
        library then closes the connection.
        """
        address = str(transport.getPeer()[0])
        self.outbound.check(transport.host or address, address)
        super().connection_made(transport)

    def _send_request(self, request: Any, future: Any = None, timeout_at: float | None = None) -> Any:  # noqa: ANN401  # as below
        sent = super()._send_request(request, future, timeout_at)
        if isinstance(request, SaslAuthenticateRequest | SaslHandshakeRequest):
            self.refusal = kafka_errors.SaslAuthenticationFailedError(
                "the broker closed the connection; check user and password, and that the mechanism is enabled"
            )
            sent.add_callback(self._judge)
        return sent

    def _judge(self, answer: Any) -> None:  # noqa: ANN401  # as below
        if not answer.error_code:
            self.refusal = None
        elif isinstance(answer, SaslHandshakeResponse):
            self.refusal = kafka_errors.UnsupportedSaslMechanismError(f"the broker supports {', '.join(answer.mechanisms) or 'none'}")
        else:
            self.refusal = kafka_errors.SaslAuthenticationFailedError(answer.error_message or error_name(answer.error_code))

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(self.refusal if self.refusal and isinstance(error, kafka_errors.KafkaConnectionError) else error)


class _Manager(KafkaConnectionManager):  # type: ignore[misc]  # as above
    """Opens connections of the class _Connection. The library has no option for this class, so its steps are repeated here."""

    outbound: Outbound = ANYWHERE

    def get_connection(
        self,
        node_id: int | str,
        timeout_ms: float | None = None,
        pop_on_close: bool = True,
        refresh_metadata_on_err: bool = True,
        reset_backoff_on_connect: bool = True,
    ) -> Any:  # noqa: ANN401  # as below
        self.maybe_raise_auth_failure(node_id)
        node = self.cluster.broker_metadata(node_id)
        if node is None or node_id in self._conns or self.connection_delay(node_id) > 0:
            return super().get_connection(node_id)  # returns the open connection, or raises
        connection = _Connection(self._net, node_id=node_id, broker_version_data=self.broker_version_data, **self.config)
        connection.outbound = self.outbound
        if pop_on_close:
            connection.close_future.add_both(lambda _: self._conns.pop(node_id, None))
        if refresh_metadata_on_err:
            connection.close_future.add_errback(lambda _: self.cluster.request_update())
        self._conns[node_id] = connection
        wait_ms = self.socket_connection_setup_timeout_ms(node_id) if timeout_ms is None else timeout_ms
        deadline = time.monotonic() + wait_ms / 1000
        self._net.call_soon(lambda: self._connect(node, connection, reset_backoff_on_connect, deadline))
        return connection

    def is_throttled(self, node: int) -> bool:
        """Whether a broker has asked the client to wait."""
        connection = self._conns.get(node)
        return connection is not None and "throttle" in connection.paused


class KafkaProtocol:
    """A connection to a Kafka cluster, to be opened with `with`; not thread-safe.

    `requests`: the number of requests sent, without logins. `version`: the version of the brokers (`(2, 8)`) if it should not be
    requested from them.
    """

    def __init__(self, settings: KafkaSettings, version: tuple[int, ...] | None = None) -> None:
        self._settings, self.requests = settings, 0
        config = protocol_config(settings) | {"api_version": version}
        self._net = NetworkSelector(client_id=config["client_id"])
        self._manager = _Manager(self._net, **config)
        self._manager.outbound = settings.outbound

    def __enter__(self) -> Self:
        """Connect to one of the brokers. Raises UnreachableError, ForbiddenError."""
        try:
            self._manager.run(self._find)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._manager.close()
        self._net.close()

    async def _find(self) -> None:
        failures = []
        for broker in self._manager.cluster.bootstrap_brokers():
            server = f"{broker.host}:{broker.port}"
            try:
                await self._manager.get_connection(broker.node_id, pop_on_close=False, refresh_metadata_on_err=False)
                await self._manager.cluster.refresh_metadata(broker.node_id)
            except (kafka_errors.KafkaError, LineageBridgeError, OSError, ValueError) as error:
                failure = error if isinstance(error, LineageBridgeError) else source_error(error)
                if isinstance(failure, ForbiddenError):
                    raise failure from error
                failures.append(f"{server}: {failure}")
                continue
            if self._manager.cluster.brokers():
                return
            failures.append(f"{server}: the answer lists no broker")
        hint = f"check `bootstrap_servers`, and that the listener uses the security protocol {self._settings.security_protocol}"
        raise UnreachableError(f"the cluster does not answer ({'; '.join(failures)})", hint)

    @property
    def brokers(self) -> list[int]:
        """The ids of the brokers, sorted."""
        return sorted(broker.node_id for broker in self._manager.cluster.brokers())

    def supports(self, request: Any, version: int = 0) -> bool:  # noqa: ANN401  # kafka-python has no types
        """Whether the brokers support this request in at least this version."""
        try:
            return bool(self._manager.broker_version_data.api_version(request) >= version)
        except kafka_errors.IncompatibleBrokerVersion:
            return False

    def request(self, request: Any, node: int | None = None) -> Any:  # noqa: ANN401  # as above
        """Send a request to this broker, or to any if None, and return the response. Raises SourceError."""
        node = self.brokers[0] if node is None else node
        (answer,) = self.request_all([(node, request)])
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def request_all(self, requests: Iterable[tuple[int, Any]]) -> list[Any]:
        """Send requests to their brokers in parallel. Returns, in the order of the requests, the response or SourceError of each."""
        asked = list(requests)
        self.requests += len(asked)
        answers: list[Any] = self._manager.run(self._gather, asked)
        return answers

    async def _gather(self, asked: list[tuple[int, Any]]) -> list[Any]:
        queues: dict[int, list[int]] = defaultdict(list)
        for index, (node, _) in enumerate(asked):
            queues[node].append(index)
        answers: list[Any] = [None] * len(asked)
        while any(queues.values()):
            indexes = [queue.pop(0) for queue in queues.values() if queue]
            sent = [(index, self._manager.call_soon(self._send, *asked[index])) for index in indexes]
            for index, future in sent:
                answers[index] = await future
        return answers

    async def _send(self, node: int, request: Any) -> Any:  # noqa: ANN401  # as above
        try:
            for _ in range(int(self._settings.timeout_s / _THROTTLED_S)):
                if not self._manager.is_throttled(node):
                    break
                await self._net.sleep(_THROTTLED_S)
            return await self._manager.send(request, node_id=node)
        except (kafka_errors.KafkaError, LineageBridgeError, OSError, ValueError) as error:
            return source_error(error)

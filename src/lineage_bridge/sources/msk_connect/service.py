"""Client of Amazon's MSK Connect API. It needs botocore, which is an optional dependency.

A poll lists the connectors with their states, page by page. It describes a connector if it is new, changed its version or state, failed, or
is in a transitional state.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.aws.client import AmazonClient
from lineage_bridge.sources.msk_connect.parse import ListedConnector
from lineage_bridge.sources.msk_connect.settings import MskSettings

_RIGHTS: Final = "grant kafkaconnect:ListConnectors and kafkaconnect:DescribeConnector"
_KEEPS = frozenset(("RUNNING", "PAUSED"))
"""States in which the description of one version of a connector does not change."""


class MskService:
    """Fetches the connectors of one AWS account and region. Thread-safe; it connects at the first request."""

    def __init__(self, settings: MskSettings) -> None:
        self.settings = settings
        self._client = AmazonClient(settings, "kafkaconnect", connections=settings.at_once)
        self._described: dict[tuple[str, ...], Mapping[str, Any]] = {}

    def pages(self) -> Iterator[list[ListedConnector]]:
        """Fetch the list of connectors, and yield it page by page. Raises SourceError, possibly after some pages."""
        for page in self._client.pages("list_connectors", "ListConnectors", _RIGHTS, "connectors", {}):
            yield [ListedConnector(entry) for entry in page]

    def describe(self, listed: Iterable[ListedConnector]) -> list[Mapping[str, Any] | SourceError]:
        """Return, for each connector in order, the answer of DescribeConnector or the error. For a connector without changes, it is
        the previous answer.
        """
        connectors = list(listed)
        with ThreadPoolExecutor(self.settings.at_once, thread_name_prefix="source") as pool:
            answers = list(pool.map(self._description, connectors))
        described = {
            connector.version: answer for connector, answer in zip(connectors, answers, strict=True) if not isinstance(answer, SourceError)
        }
        self._described = {version: answer for version, answer in described.items() if answer.get("connectorState") in _KEEPS}
        return answers

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _description(self, connector: ListedConnector) -> Mapping[str, Any] | SourceError:
        if connector.version in self._described:
            return self._described[connector.version]
        try:
            asked = {"connectorArn": connector.arn}
            answer: Mapping[str, Any] = self._client.call("describe_connector", "DescribeConnector", _RIGHTS, asked)
        except SourceError as error:
            return error
        return answer

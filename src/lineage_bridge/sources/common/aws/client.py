"""A client of one of Amazon's services that connects at the first call. Requires botocore, an optional dependency."""

import threading
from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.aws.session import open_client, service_errors
from lineage_bridge.sources.common.aws.settings import AwsConnection


class AmazonClient:
    """Calls one service, for which `service` is botocore's name. Thread-safe; connects at the first call.

    `connections` is how many calls may be under way at once, `tries` how often a call is tried (0: the usual number of times).
    """

    def __init__(self, settings: AwsConnection, service: str, *, connections: int = 10, tries: int = 0) -> None:
        self._settings, self._service, self._connections, self._tries = settings, service, connections, tries
        self._opening = threading.Lock()
        self._client: Any = None

    def call(self, method: str, named: str, rights: str, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        """Call an operation, and return its answer. `method` is the operation's name in botocore, `named` its name in errors, such as
        `GetTable of sales.orders`.

        Raises SourceError, with the hint `rights` if a permission is missing.
        """
        with service_errors(named, rights):
            return getattr(self.opened(), method)(**parameters)

    def pages(self, method: str, named: str, rights: str, member: str, parameters: Mapping[str, Any]) -> Iterator[list[Any]]:
        """Yield the list `member` of each page of a listing. Each page is fetched when the caller asks for it. Raises the errors of `call`,
        possibly after some pages.
        """
        with service_errors(named, rights):
            for page in self.opened().get_paginator(method).paginate(**parameters):
                found = page.get(member)
                if not isinstance(found, list):
                    raise SourceError(f"{named} did not return a list", f"check that endpoint_url is that of {self._service}")
                yield found

    def opened(self) -> Any:  # noqa: ANN401  # as above
        """The botocore client itself. Its methods raise botocore's errors instead of SourceError. Raises ConfigError or SourceError if the
        client cannot be opened.
        """
        with self._opening:
            if self._client is None:
                self._client = open_client(self._settings, self._service, connections=self._connections, tries=self._tries)
            return self._client

    def close(self) -> None:
        """Close connections. A later call opens new ones."""
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

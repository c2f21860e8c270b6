"""The client of a target that is a service of Amazon. Requires botocore, an optional dependency."""

import threading
from typing import Any

from lineage_bridge.catalogs.target import Json
from lineage_bridge.sources.common.aws.session import open_client, service_errors
from lineage_bridge.sources.common.aws.settings import AwsConnection


class AmazonClient:
    """Calls one service, for which `service` is botocore's name. Thread-safe; connects at the first call, and tries each call once."""

    def __init__(self, settings: AwsConnection, service: str, connections: int) -> None:
        self._settings, self._service, self._connections = settings, service, connections
        self._opening = threading.Lock()
        self._client: Any = None

    def call(self, method: str, named: str, rights: str, parameters: Json) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        """The answer of an operation. `method` is its name in botocore, `named` its name in errors, such as `GetTable of sales.orders`.

        Raises SourceError, with the hint `rights` if a permission is missing.
        """
        with service_errors(named, rights):
            return getattr(self._opened(), method)(**parameters)

    def close(self) -> None:
        """Close connections."""
        if self._client is not None:
            self._client.close()

    def _opened(self) -> Any:  # noqa: ANN401  # as above
        with self._opening:
            if self._client is None:
                self._client = open_client(self._settings, self._service, connections=self._connections, tries=1)
            return self._client

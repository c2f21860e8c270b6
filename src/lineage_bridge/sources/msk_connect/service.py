"""Client of Amazon's MSK Connect API. Only this module uses boto3, which is an optional dependency.

A poll lists the connectors with their states, page by page. It describes a connector if it is new, changed its version or state, failed, or
is in a transitional state.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore import exceptions
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, CredentialProvider, CredentialResolver, DeferredRefreshableCredentials

from lineage_bridge.errors import BusyError, ConfigError, ForbiddenError, MissingError, SourceError, UnreachableError
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.settings import reveal
from lineage_bridge.sources.msk_connect.parse import ListedConnector
from lineage_bridge.sources.msk_connect.settings import MskSettings

for _name in ("boto3", "botocore"):  # they log whole answers, including secrets; errors are raised anyway
    logging.getLogger(_name).setLevel(logging.CRITICAL)

TRIES = 4
"""Maximum attempts of one call; botocore repeats it, each time after a longer pause."""
_SESSION = "lineage-bridge"
_RIGHTS = "grant kafkaconnect:ListConnectors and kafkaconnect:DescribeConnector"
_KEYS = "set a profile or keys, or use what the AWS SDK finds: variables, the role of a container or an instance"
_KEEPS = frozenset(("RUNNING", "PAUSED"))
"""States in which the description of one version of a connector does not change."""


class MskService:
    """The connectors of one account and region. Thread-safe; it connects at the first request."""

    def __init__(self, settings: MskSettings) -> None:
        self.settings = settings
        self._client: Any = None
        self._opening = Lock()
        self._described: dict[tuple[str, ...], Mapping[str, Any]] = {}

    def pages(self) -> Iterator[list[ListedConnector]]:
        """Yield the listed connectors, page by page. Raises SourceError, possibly after some pages."""
        with _service_errors("ListConnectors"):
            for page in self._open().get_paginator("list_connectors").paginate():
                found = page.get("connectors")
                if not isinstance(found, list):
                    raise SourceError(
                        "ListConnectors did not return a list of connectors", "check that endpoint_url is that of MSK Connect"
                    )
                yield [ListedConnector(entry) for entry in found]

    def describe(self, listed: Iterable[ListedConnector]) -> list[Mapping[str, Any] | SourceError]:
        """Return the answer of DescribeConnector for each connector, or its error, in order. Reuses the previous answer if unchanged."""
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
        if self._client is not None:
            self._client.close()
            self._client = None

    def _description(self, connector: ListedConnector) -> Mapping[str, Any] | SourceError:
        if connector.version in self._described:
            return self._described[connector.version]
        try:
            with _service_errors("DescribeConnector"):
                answer: Mapping[str, Any] = self._open().describe_connector(connectorArn=connector.arn)
                return answer
        except SourceError as error:
            return error

    def _open(self) -> Any:  # noqa: ANN401  # boto3 creates its client classes at run time
        with self._opening:
            if self._client is None:
                asked = self.settings
                config = Config(
                    connect_timeout=asked.timeout_s,
                    read_timeout=asked.timeout_s,
                    max_pool_connections=asked.at_once,
                    retries={"mode": "standard", "total_max_attempts": TRIES},
                )
                if asked.endpoint_url:
                    url = urlsplit(asked.endpoint_url)
                    asked.outbound.check_servers([(url.hostname or "", url.port or 443)])
                session = boto3.session.Session(botocore_session=_session(asked), region_name=asked.region or None)
                self._client = session.client("kafkaconnect", endpoint_url=asked.endpoint_url or None, config=config)
            return self._client


class _AssumedRole(CredentialProvider):  # type: ignore[misc]  # it ships no types
    """The credentials of an assumed role, refreshed before they expire."""

    METHOD = "assume-role"

    def __init__(self, session: botocore.session.Session, settings: MskSettings) -> None:
        super().__init__()
        self._session, self._settings = session, settings

    def load(self) -> DeferredRefreshableCredentials:
        """Return the credentials of the role. Assuming it requires credentials of the caller."""
        own = self._session.get_credentials()
        if own is None:
            raise exceptions.NoCredentialsError
        asked = self._settings
        more = {"RoleSessionName": _SESSION, **({"ExternalId": asked.external_id} if asked.external_id else {})}

        def client(service: str, **arguments: Any) -> Any:  # noqa: ANN401  # as above
            return self._session.create_client(service, region_name=asked.region or None, **arguments)

        fetcher = AssumeRoleCredentialFetcher(client, own, asked.role_arn, extra_args=more)
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)


def _session(asked: MskSettings) -> botocore.session.Session:
    session = botocore.session.Session(profile=asked.profile or None)
    if asked.access_key_id and asked.secret_access_key:
        session.set_credentials(asked.access_key_id, reveal(asked.secret_access_key))
    if not asked.role_arn:
        return session
    assumed = botocore.session.Session(profile=asked.profile or None)
    assumed.register_component("credential_provider", CredentialResolver([_AssumedRole(session, asked)]))
    return assumed


@contextmanager
def _service_errors(what: str) -> Iterator[None]:
    """Convert errors of boto3 to errors of a source."""
    try:
        yield
    except exceptions.ClientError as error:
        raise _refused(what, error) from error
    except (exceptions.NoRegionError, exceptions.ProfileNotFound) as error:
        raise ConfigError(f"{what}: {_line(error)}", "set region, and a profile that your AWS configuration has") from error
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError) as error:
        raise ForbiddenError(f"{what}: {_line(error)}", _KEYS) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        raise UnreachableError(f"{what}: {_line(error)}", "check that this machine can reach the region's endpoint") from error
    except exceptions.BotoCoreError as error:
        raise SourceError(f"{what}: {_line(error)}") from error


def _refused(what: str, error: exceptions.ClientError) -> SourceError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    text = f"{what}: {_line(error)}"
    if error.operation_name == "AssumeRole":
        return ForbiddenError(text, "the role must trust the caller, and the caller needs sts:AssumeRole on it")
    if status == 429 or status >= 500 or "Throttl" in code:
        return BusyError(text)
    if status in (401, 403):
        return ForbiddenError(text, _RIGHTS)
    return MissingError(text) if status == 404 else SourceError(text)


def _line(error: Exception) -> str:
    return mask_text(" ".join(str(error).split()))[:300]

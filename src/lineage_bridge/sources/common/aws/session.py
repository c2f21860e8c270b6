"""Opens clients of Amazon's APIs, and converts their errors. botocore is an optional dependency.

If the settings have neither keys nor a profile, the AWS SDK looks for credentials itself, for example those of the container or instance
that it runs on, which it fetches from the metadata service. Only the server's setting `machine_credentials` can allow that; no setting of a
source or an input can.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import botocore.loaders
import botocore.session
from botocore import UNSIGNED, exceptions
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, CredentialProvider, CredentialResolver, DeferredRefreshableCredentials

from lineage_bridge.errors import BusyError, ConfigError, ForbiddenError, MissingError, SourceError, UnauthenticatedError, UnreachableError
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.aws.connections import check_connections
from lineage_bridge.sources.common.aws.settings import AwsConnection
from lineage_bridge.sources.common.settings import reveal

logging.getLogger("botocore").setLevel(logging.CRITICAL)  # botocore logs whole answers, with secrets in them

TRIES: Final = 4
"""Maximum attempts of one call; botocore repeats it, each time after a longer pause."""
SESSION: Final = "lineage-bridge"
_DESCRIPTIONS: Final = botocore.loaders.create_loader()
"""Amazon's API descriptions, loaded once: loading them is the main cost of creating a client."""
_KEYS: Final = (
    "set `profile` or `access_key_id`, or let the AWS SDK find credentials: environment variables, or the role of this machine if an "
    "operator sets `machine_credentials`"
)
_UNKNOWN_CALLER: Final = frozenset(
    (
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    )
)
_DENIED: Final = frozenset(("AccessDenied", "AccessDeniedException", "KMSAccessDeniedException"))
_KEY_RIGHTS: Final = "grant kms:Decrypt, and to write kms:GenerateDataKey, on the stream's key"
_BUSY: Final = frozenset(("LimitExceededException", "ProvisionedThroughputExceededException", "KMSThrottlingException"))
_MISSING: Final = frozenset(("ResourceNotFoundException",))


def open_client(settings: AwsConnection, service: str, *, connections: int = 10, tries: int = 0) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
    """Open a client of an AWS service, after checking the address that it would connect to. Raises ConfigError, SourceError."""
    config = Config(
        connect_timeout=settings.timeout_s,
        read_timeout=settings.timeout_s,
        max_pool_connections=connections,
        retries={"mode": "standard", "total_max_attempts": tries or TRIES},
    )
    return _client(settings, service, config)


def open_bucket_client(settings: AwsConnection, *, anonymous: bool, ca_file: str) -> Any:  # noqa: ANN401  # as above
    """Open a client of S3, or of another store with S3's API, after checking the address that it would connect to. Raises ConfigError,
    SourceError.

    For stores other than Amazon's, the bucket is in the path of the address and not in the host, so the configured host is the one that
    is checked.
    """
    config = Config(
        connect_timeout=min(settings.timeout_s, 10.0),
        read_timeout=settings.timeout_s,
        retries={"mode": "standard", "total_max_attempts": TRIES},
        signature_version=UNSIGNED if anonymous else None,
        s3={"addressing_style": "path" if settings.endpoint_url else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = _client(settings, "s3", config, ca_file)
    if settings.endpoint_url:
        client.meta.events.register("before-call.s3", _mark_redirected)
    return client


def _mark_redirected(params: dict[str, Any], **_: Any) -> None:  # noqa: ANN401  # as above
    """Mark a call as already redirected, so that botocore does not look up the bucket's region again after each redirect."""
    params["context"].setdefault("s3_redirect", {})["redirected"] = True


def _client(settings: AwsConnection, service: str, config: Config, ca_file: str = "") -> Any:  # noqa: ANN401  # as above
    with service_errors(service):
        session = aws_session(settings)
        where = {"region_name": settings.region or None, "endpoint_url": settings.endpoint_url or None}
        client = session.create_client(service, config=config, verify=ca_file or None, **where)
    check_address(settings, client)
    return client


def server_of_client(client: Any) -> tuple[str, int]:  # noqa: ANN401  # as above
    """The host and port that a client connects to."""
    url = urlsplit(client.meta.endpoint_url)
    return url.hostname or "", url.port or (80 if url.scheme == "http" else 443)


def check_address(settings: AwsConnection, client: Any) -> None:  # noqa: ANN401  # as above
    """Check that a client may connect to its address, and make it check each connection that it opens. Raises SourceError."""
    settings.outbound.check_servers([server_of_client(client)])
    check_connections(client, settings.outbound)


class _AssumedRole(CredentialProvider):  # type: ignore[misc]  # it ships no types
    """Fetches the credentials of an assumed role, and fetches new ones before they expire."""

    METHOD = "assume-role"

    def __init__(self, session: botocore.session.Session, settings: AwsConnection) -> None:
        super().__init__()
        self._session, self._settings = session, settings

    def load(self) -> DeferredRefreshableCredentials:
        """Return credentials of the role. To assume the role, the caller needs credentials of its own."""
        own = self._session.get_credentials()
        if own is None:
            raise exceptions.NoCredentialsError
        asked = self._settings
        more = {"RoleSessionName": asked.role_session_name or SESSION}
        more |= {"ExternalId": asked.external_id} if asked.external_id else {}
        more |= {"SourceIdentity": asked.role_source_identity} if asked.role_source_identity else {}

        def client(service: str, **arguments: Any) -> Any:  # noqa: ANN401  # as above
            made = self._session.create_client(
                service, region_name=asked.region or None, endpoint_url=asked.sts_endpoint_url or None, **arguments
            )
            check_address(asked, made)
            return made

        fetcher = AssumeRoleCredentialFetcher(client, own, asked.role_arn, extra_args=more)
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, self.METHOD)


def aws_session(asked: AwsConnection) -> botocore.session.Session:
    """A session of the AWS SDK with the credentials in the settings or, without any, with those that the SDK finds."""
    session = _new_session(asked)
    if asked.access_key_id and asked.secret_access_key:
        token = reveal(asked.session_token) if asked.session_token else None
        session.set_credentials(asked.access_key_id, reveal(asked.secret_access_key), token)
    if not asked.role_arn:
        return session
    assumed = _new_session(asked)
    assumed.register_component("credential_provider", CredentialResolver([_AssumedRole(session, asked)]))
    return assumed


def _new_session(asked: AwsConnection) -> botocore.session.Session:
    session = botocore.session.Session(profile=asked.profile or None)
    session.register_component("data_loader", _DESCRIPTIONS)
    return session


@contextmanager
def service_errors(what: str, rights: str = "") -> Iterator[None]:
    """A context in which errors of botocore become errors of a source. `rights` is the hint for a caller who lacks a permission."""
    try:
        yield
    except exceptions.ClientError as error:
        raise _refused(what, rights, error) from error
    except (exceptions.NoRegionError, exceptions.ProfileNotFound) as error:
        raise ConfigError(f"{what}: {line(error)}", "set `region`, and a `profile` that exists in your AWS configuration") from error
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError, exceptions.CredentialRetrievalError) as error:
        raise ForbiddenError(f"{what}: {line(error)}", _KEYS) from error
    except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
        if isinstance(error.kwargs.get("error"), SourceError):
            raise error.kwargs["error"] from error
        raise UnreachableError(f"{what}: {line(error)}", "check that this machine can reach the region's endpoint") from error
    except exceptions.BotoCoreError as error:
        raise SourceError(f"{what}: {line(error)}") from error


def error_code(error: BaseException | None) -> str:
    """The error code in an answer of Amazon's; empty if the error was raised without an answer."""
    if isinstance(error, exceptions.ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def _refused(what: str, rights: str, error: exceptions.ClientError) -> SourceError:
    code = error_code(error)
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    text = f"{what}: {line(error)}"
    if error.operation_name == "AssumeRole":
        return ForbiddenError(text, "the role must trust the caller, and the caller needs sts:AssumeRole on it")
    if code in _UNKNOWN_CALLER:
        return UnauthenticatedError(text, "check the keys, whether they have expired, and this machine's clock")
    if status == 429 or status >= 500 or code in _BUSY or "Throttl" in code:
        return BusyError(text, wait_s=_asked_wait(error), limited=status == 429 or "Throttl" in code)
    if status in (401, 403) or code in _DENIED:
        return ForbiddenError(text, _KEY_RIGHTS if code.startswith("KMS") else rights)
    return MissingError(text) if status == 404 or code in _MISSING else SourceError(text)


def _asked_wait(error: exceptions.ClientError) -> float | None:
    """The number of seconds after which an answer allows the next try; None if it does not say."""
    asked = str(error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("retry-after", ""))
    return float(asked) if asked.isdigit() and len(asked) < 7 else None


def line(error: BaseException) -> str:
    """The message of an error, on one line and without secrets."""
    return mask_text(" ".join(str(error).split()))[:300]

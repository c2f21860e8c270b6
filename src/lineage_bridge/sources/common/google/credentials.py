"""Authorizes calls of Google's APIs with the key of a service account, or with Google's default credentials.

A token of a service account is signed here with the account's key, without calling another server. Google's library for default credentials
may call Google or the machine's metadata server. It is only used if an operator allows that with the server's setting
`machine_credentials`, or by setting GOOGLE_APPLICATION_CREDENTIALS.
"""

import json
import threading
from typing import Any, Final
from urllib.parse import urlsplit

import google.auth
from google.auth import exceptions
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from lineage_bridge.errors import ConfigError, UnauthenticatedError, UnreachableError
from lineage_bridge.sources.common.google.settings import GoogleLogin
from lineage_bridge.sources.common.settings import reveal

_GOOGLE: Final = ".googleapis.com"
SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"


class Authorization:
    """Headers that authorize calls, with a token that is renewed before it expires. Thread-safe."""

    def __init__(self, settings: GoogleLogin) -> None:
        self._settings = settings
        self._renewing = threading.Lock()
        self._credentials: Any = None

    def headers(self) -> dict[str, str]:
        """The headers that authorize a call; empty if the settings have a token. Raises ConfigError, UnauthenticatedError,
        UnreachableError.
        """
        if self._settings.token:
            return {}
        headers: dict[str, str] = {}
        with self._renewing:
            if self._credentials is None:
                self._credentials = self._own() if self._settings.credentials else self._default()
            try:
                if not self._credentials.valid:
                    self._credentials.refresh(Request())
                self._credentials.apply(headers)
            except exceptions.TransportError as error:
                raise UnreachableError(f"no token: {_line(error)}", "check that this machine can reach Google's token endpoint") from error
            except exceptions.GoogleAuthError as error:
                raise UnauthenticatedError(f"no token: {_line(error)}", "check the credentials, and this machine's clock") from error
        return {name: str(value) for name, value in headers.items()}

    def _own(self) -> Any:  # noqa: ANN401  # google.auth has no types
        hint = "give the JSON file that Google issues for a key of a service account"
        try:
            found = json.loads(reveal(self._settings.credentials or ""))
            made: Any = service_account.Credentials
            return made.from_service_account_info(found, scopes=[SCOPE], always_use_jwt_access=True)
        except (ValueError, TypeError, AttributeError, exceptions.GoogleAuthError):  # their texts may have parts of the key
            raise ConfigError("setting credentials is not the key of a service account", hint) from None

    def _default(self) -> Any:  # noqa: ANN401  # as above
        if "google" in self._settings.context.withheld:
            hint = "set credentials; an operator can allow this machine's credentials with the setting `machine_credentials`"
            raise ConfigError("the settings do not allow targets to use the credentials of this machine", hint)
        url = urlsplit(self._settings.url)
        if url.scheme != "https" or not (url.hostname or "").endswith(_GOOGLE):
            text = f"Google's default credentials are only sent to hosts of Google (*{_GOOGLE}), by https"
            raise ConfigError(text, "set credentials or token")
        try:
            found, _ = google.auth.default(scopes=[SCOPE])
        except exceptions.GoogleAuthError as error:
            raise UnauthenticatedError(f"no credentials: {_line(error)}", "set credentials or token") from error
        return found


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]

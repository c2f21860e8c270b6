"""Settings that all sources have, and references to secrets."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from typing_extensions import Self

from lineage_bridge.config.outbound import ANYWHERE, Outbound
from lineage_bridge.errors import ConfigError, SourceError

REFERENCES = "${env:NAME}, ${file:PATH}, ${keyring:SERVICE/USER} or ${sealed:NAME}"
"""The forms of a reference to a secret, for messages."""
_REFERENCE = re.compile(r"\$\{(?P<how>env|file|keyring|sealed|given):(?P<what>[^{}]+)\}")


_MOST_BYTES = 1 << 20
_MOST_REFUSED = 20


def _nothing_sealed(name: str) -> str:
    raise ConfigError(f"the sealed secret {name} cannot be looked up in this process", "refer to an environment variable or a file")


@dataclass(frozen=True)
class Secrets:
    """Where this process looks up secrets: in environment variables, folders, the keyring and the sealed file.

    `sealed` returns a sealed secret by its name, or raises ConfigError; `given` are secrets that came with one request. Files are read
    only below `folders` (None: anywhere), variables only if their names begin with `variables`.
    """

    sealed: Callable[[str], str] = field(default=_nothing_sealed, repr=False)
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    folders: tuple[Path, ...] | None = None
    variables: str = ""


NO_SECRETS = Secrets()


@dataclass(frozen=True)
class SourceContext:
    """The secrets, folders and addresses that sources of this process may use. Settings of sources are validated against these."""

    secrets: Secrets = NO_SECRETS
    outbound: Outbound = ANYWHERE
    input_folders: tuple[Path, ...] | None = None
    """The folders below which inputs may read files; None: anywhere."""
    withheld: frozenset[str] = frozenset()
    """The clouds (azure, google) whose credentials of this machine clients may not use."""

    def with_given(self, given: Mapping[str, str]) -> Self:
        """A copy of the context that also has the secrets sent with a request."""
        return replace(self, secrets=replace(self.secrets, given=given))


NO_CONTEXT = SourceContext()


class SecretReference(str):
    """A reference to a secret, and where to look the secret up. As a text, it is only the reference."""

    __slots__ = ("secrets",)
    secrets: Secrets

    def __new__(cls, text: str, secrets: Secrets) -> Self:
        """Create a reference. Raises ValueError if the text is not a reference, or refers to a secret that was not given."""
        found = _REFERENCE.fullmatch(text)
        if found is None:
            raise ValueError(f"a secret must be a reference, not the secret itself: {REFERENCES}")
        if found["how"] == "given" and found["what"] not in secrets.given:
            raise ValueError("a secret from a request is only kept during the request, and cannot be used in stored settings")
        made = super().__new__(cls, text)
        made.secrets = secrets
        return made


def as_reference(value: object, info: ValidationInfo) -> SecretReference:
    """Validate that the value of a setting is a reference to a secret, and return the reference. Raises ValueError."""
    if isinstance(value, SecretReference):
        return value
    if not isinstance(value, str):
        raise ValueError("a reference to a secret must be a string")  # noqa: TRY004  # pydantic reports ValueError to the user
    return SecretReference(value, _context(info).secrets)


def _context(info: ValidationInfo) -> SourceContext:
    return info.context if isinstance(info.context, SourceContext) else NO_CONTEXT


def check_host(host: str, info: ValidationInfo) -> None:
    """Raise ValueError if a source may not connect to a host, judged by its text alone, without looking it up."""
    try:
        _context(info).outbound.check_literal(host)
    except SourceError as error:
        raise ValueError(f"{error}; {error.hint}") from error


def check_address(value: str, info: ValidationInfo) -> str:
    """Return the address of a server without a slash at its end. Raises ValueError for an address that may not be called."""
    if any(character <= " " or character == "\x7f" for character in value):
        raise ValueError("an address must not contain spaces, line breaks or control characters")
    parts = urlsplit(value)
    _ = parts.port  # raises ValueError
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address must begin with http:// or https:// and have a host")
    if parts.username or parts.password:
        raise ValueError("an address must not contain user and password; set `username` and `password`")
    check_host(parts.hostname, info)
    return value.rstrip("/")


Secret = Annotated[str, PlainValidator(as_reference, json_schema_input_type=str), Field(json_schema_extra={"secret": True})]
"""A reference to a secret, never the secret itself; `reveal` reads it."""
Url = Annotated[str, AfterValidator(check_address)]


def reveal(reference: str) -> str:
    """Return the secret to which a reference points. Raises ConfigError if it is unavailable; the error never contains a secret."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        raise ConfigError("a setting contains a secret itself instead of a reference to it", f"write {REFERENCES}")
    how, what = found["how"], found["what"]
    secrets = reference.secrets if isinstance(reference, SecretReference) else NO_SECRETS
    if how == "sealed":
        return secrets.sealed(what)
    if how == "keyring":
        return _of_keyring(what)
    return {"env": _of_environment, "file": _of_file, "given": _of_request}[how](what, secrets)


def _of_request(name: str, secrets: Secrets) -> str:
    if name not in secrets.given:
        raise ConfigError("a secret that an earlier request sent is no longer known", "send it again")
    return secrets.given[name]


def _of_environment(path: str, secrets: Secrets) -> str:
    """Return the value of an environment variable, or a member of it if the variable contains JSON: NAME/member/member."""
    name, *members = path.split("/")
    if not name.startswith(secrets.variables):
        raise ConfigError(
            f"variable {name} may not be read as a secret: its name does not begin with {secrets.variables!r}",
            "an operator can allow other prefixes with the setting `secret_variables`",
        )
    value = os.environ.get(name)
    if value is None:
        raise ConfigError(f"variable {name} is not set", "set it in the environment of `lineage-bridge serve`")
    if not members:
        return value
    try:
        return str(reduce(getitem, members, json.loads(value)))
    except (ValueError, LookupError, TypeError):
        raise ConfigError(
            f"variable {name} is not a JSON object with the member {'/'.join(members)}", "set it to a JSON object with this member"
        ) from None


def _of_file(path: str, secrets: Secrets) -> str:
    file = Path(path).expanduser()
    folders = secrets.folders
    if folders is not None and not any(file.resolve().is_relative_to(folder.expanduser().resolve()) for folder in folders):
        allowed = ", ".join(map(str, folders)) or "none"
        raise ConfigError(
            f"secret file {path} may not be read: it is not below a folder of the setting secret_folders ({allowed})",
            "move the file there, or add its folder to the setting `secret_folders`",
        )
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"secret file {path} cannot be read: {reason}", "the file must contain the secret and nothing else") from error


def _of_keyring(entry: str) -> str:
    service, _, user = entry.partition("/")
    try:
        import keyring  # noqa: PLC0415  # an optional dependency
        from keyring.errors import KeyringError  # noqa: PLC0415  # as above
    except ImportError as error:
        raise ConfigError(
            "secrets in the keyring require the package keyring", "install it with: pip install 'lineage-bridge[keyring]'"
        ) from error
    try:
        value: str | None = keyring.get_password(service, user)
    except KeyringError as error:
        raise ConfigError(
            f"the keyring cannot be read: {error}", "unlock the keyring, or refer to an environment variable or a file"
        ) from error
    if value is None:
        raise ConfigError(f"the keyring has no entry of {service} for {user}", f"add the entry with: keyring set {service} {user}")
    return value


def refused_settings(what: str, error: ValidationError, hint: str) -> ConfigError:
    """Make an error that lists what is wrong with the settings of a source, an input or a target (`what`): each setting by its name,
    never by its value.
    """
    items = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_REFUSED]
    found = [(".".join(map(str, item["loc"])), item["msg"].removeprefix("Value error, ")) for item in items]
    reasons = [f"setting {setting}: {reason}" if setting else reason for setting, reason in found]
    return ConfigError(f"{what}: {'; '.join(reasons)}", hint, {f"settings.{setting}": reason for setting, reason in found if setting})


class SourceSettings(BaseModel):
    """The settings that every source has."""

    # A value may contain a secret in the wrong place, so errors only name the setting.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, coerce_numbers_to_str=True)

    interval_s: float = Field(default=60.0, ge=1, le=86_400, description="seconds between polls")
    timeout_s: float = Field(default=15.0, gt=0, le=600, description="timeout of one call in seconds")
    _context: SourceContext = PrivateAttr(default=NO_CONTEXT)

    @model_validator(mode="after")
    def _keep_context(self, info: ValidationInfo) -> Self:
        self._context = _context(info)
        return self

    @property
    def context(self) -> SourceContext:
        """The context against which these settings were validated. Settings made from them are validated against it too."""
        return self._context

    @property
    def outbound(self) -> Outbound:
        """The rules about addresses that the source may connect to."""
        return self._context.outbound

    @property
    def address(self) -> str:
        """The address that identifies the observed system. A snapshot is only valid for the same system."""
        return ""

    @property
    def costs(self) -> str:
        """What it costs to read the system, such as a running warehouse; empty if only requests are sent. Extractions read a source with
        costs only on request.
        """
        return ""

    @property
    def heartbeat_s(self) -> int:
        """The time within which a running job sends its next event, as promised in events; in whole seconds, at least one."""
        return max(1, round(self.interval_s))


class HttpSettings(SourceSettings):
    """The settings of a source that calls a REST API."""

    url: Url = Field(description="address of its REST API")
    username: str = Field(default="", description="user of HTTP basic authentication")
    password: Secret | None = Field(default=None, description="password of that user, as a reference")
    token: Secret | None = Field(default=None, description="bearer token, as a reference")
    ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")
    client_cert_file: str = Field(default="", description="PEM file of the client's certificate")
    client_key_file: str = Field(default="", description="PEM file of the client's key")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls")

    @property
    def address(self) -> str:
        """The address of the REST API, which identifies the observed system."""
        return self.url

    @model_validator(mode="after")
    def _one_way_in(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        if self.token and (self.username or self.password):
            raise ValueError("set either `username` and `password`, or `token`")
        return self

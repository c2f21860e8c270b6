"""Defines the cookies of the server, and parses them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import Self

from lineage_bridge.config.external import ExternalAddress

_SESSION: Final = "lineage-session"
_LOGIN: Final = "lineage-login"


@dataclass(frozen=True)
class Cookie:
    """A cookie that scripts cannot read. Requests that other sites cause do not contain it, except when a user follows a link.

    Under TLS, the cookie's name begins with `__Host-`, so that no other host can set the cookie. If the server is shown below a path, the
    name begins with `__Secure-` instead, so that the cookie can be limited to that path: other paths of the host may belong to other
    programs.
    """

    name: str
    path: str
    is_secure: bool

    @classmethod
    def session(cls, external: ExternalAddress) -> Self:
        """Define the cookie that identifies the session of a browser."""
        return cls._named(_SESSION, external)

    @classmethod
    def login(cls, external: ExternalAddress, state: str) -> Self:
        """Define the cookie of a pending login. Each login has its own, so that several can be pending in several tabs."""
        return cls._named(f"{_LOGIN}-{state[:8]}", external)

    @classmethod
    def _named(cls, name: str, external: ExternalAddress) -> Self:
        prefix = ("__Secure-" if external.prefix else "__Host-") if external.is_secure else ""
        return cls(prefix + name, f"{external.prefix}/", external.is_secure)

    def with_value(self, value: str, age_s: int | None = None) -> str:
        """The header that sets the cookie to a value, for a number of seconds or until the browser is closed."""
        age = "" if age_s is None else f"; Max-Age={age_s}"
        return f"{self.name}={value}; Path={self.path}{age}; HttpOnly; SameSite=Lax{'; Secure' if self.is_secure else ''}"

    def removed(self) -> str:
        """The header that removes the cookie."""
        return self.with_value("", 0)

    def value(self, headers: Mapping[str, str]) -> str:
        """The value of the cookie in a request; empty if the request has none, or several different ones."""
        sent = [pair.strip() for name, text in headers.items() if name == "cookie" for pair in text.split(";")]
        values = {value for name, _, value in (pair.partition("=") for pair in sent) if name == self.name}
        return values.pop() if len(values) == 1 else ""

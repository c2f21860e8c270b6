"""The address at which browsers reach the server, if a proxy shows it at another host or below a path."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from typing_extensions import Self

PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
"""A path prefix under which a proxy may show the server: empty, or beginning with a slash and not ending with one."""
_OWN: Final = frozenset({"api", "assets", "auth", "docs", "metrics", "openapi.json", "spec", "view"})
"""First segments of the server's own paths. With such a prefix, the server could not know whether a proxy has removed it."""
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True)
class ExternalAddress:
    """The address at which browsers reach the server. `origin` is in the form that browsers send: lower case, without the scheme's default
    port. `prefix` is empty or a path such as `/lineage`.
    """

    origin: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the setting `external_url`. Raises ValueError."""
        parts = urlsplit(text)
        host, port, prefix = (parts.hostname or "").lower(), parts.port, parts.path.rstrip("/")
        if parts.scheme not in _DEFAULT_PORTS or not host or not host.isascii():
            raise ValueError("use an address that begins with https:// or http:// and a host")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError("use an address without user, query and fragment")
        check_prefix(prefix)
        host = f"[{host}]" if ":" in host else host
        shown = "" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}"
        return cls(f"{parts.scheme}://{host}{shown}", prefix)

    @property
    def host(self) -> str:
        """The name or address of the host; an IPv6 address is in brackets."""
        name = urlsplit(self.origin).hostname or ""
        return f"[{name}]" if ":" in name else name

    @property
    def url(self) -> str:
        """The whole address, without a slash at its end."""
        return self.origin + self.prefix

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach the server by TLS."""
        return self.origin.startswith("https:")

    @property
    def is_on_loopback(self) -> bool:
        """Whether the address can only be reached by browsers on this machine."""
        name = self.host.strip("[]")
        try:
            return name == "localhost" or ip_address(name).is_loopback
        except ValueError:
            return False


def check_prefix(prefix: str) -> None:
    """Check that the server's pages can be shown below a path prefix. Raises ValueError otherwise."""
    if not PREFIX.fullmatch(prefix):
        raise ValueError("a path consists of letters, digits and -._~ between slashes")
    if prefix.split("/")[1:2] and prefix.split("/")[1] in _OWN:
        raise ValueError(f"the path must not begin with a segment that the server uses itself: {', '.join(sorted(_OWN))}")

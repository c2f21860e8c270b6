"""The address by which a catalog is told apart from others of its kind, the same for sources and targets. Pure."""

from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def catalog_address(address: str) -> str:
    """The address of a catalog in one spelling. Of a URL, scheme, host, port and path count; what follows the path does not.

    A text that is not a URL is returned as it is. What follows a URL after a space is kept.
    """
    url, space, rest = address.partition(" ")
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return address
    if parts.scheme not in _PORTS or not parts.hostname:
        return address
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    shown = f"{host}:{port}" if port != _PORTS[parts.scheme] else host
    return f"{parts.scheme}://{shown}{parts.path.rstrip('/')}{space}{rest}"

"""The address that identifies a catalog among others of its kind. Sources and targets of one catalog have the same address. Pure."""

from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def catalog_address(address: str) -> str:
    """Normalize the address of a catalog. A URL is reduced to scheme, host, port and path; text after a space is kept. Any other text is
    returned unchanged.
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

"""Determines where a browser goes after a login. That can only be a path of this server."""

from typing import Final

from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import RefusedError

START: Final = "/docs"
"""The page that is shown if a login names no other."""
_MOST_CHARACTERS: Final = 1024
_DOTS: Final = frozenset({".", ".."})


def target_of(text: str, external: ExternalAddress) -> str:
    """The path to which the browser goes after a login, as browsers interpret it. Raises RefusedError for an address outside this
    server.
    """
    if not text:
        return external.prefix + START
    path = text.partition("?")[0].partition("#")[0]
    is_own = (
        len(text) <= _MOST_CHARACTERS
        and path.startswith(f"{external.prefix}/")
        and not path.startswith("//")
        and "\\" not in text
        and text.isascii()
        and all(character > " " and character != "\x7f" for character in text)
        and not any(part.lower().replace("%2e", ".") in _DOTS for part in path.split("/"))
    )
    if not is_own:
        raise RefusedError(
            422, "foreign_target", "after a login, a browser can only be sent to a path of this server", "use a path such as next=/docs"
        )
    return text

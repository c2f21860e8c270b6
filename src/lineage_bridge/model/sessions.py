"""Sessions of people in a browser."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Identity:
    """Who has logged in: the principal's name, the issuer that knows it, and those of its roles that the settings have."""

    principal: str
    issuer: str
    roles: tuple[str, ...]


@dataclass(frozen=True)
class Session:
    """A session, without the secret in its cookie, which `digest` recognises. Times are UTC microseconds; `used_us` is a minute behind."""

    digest: bytes
    identity: Identity
    created_us: int
    used_us: int
    expires_us: int

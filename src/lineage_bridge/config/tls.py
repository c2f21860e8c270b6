"""TLS: the server's certificate, which can be replaced while it runs, and the authorities that clients trust."""

import logging
import re
import ssl
from pathlib import Path

from lineage_bridge.config.settings import Settings
from lineage_bridge.errors import ConfigError

_FIRST = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
log = logging.getLogger(__name__)


class ServerCertificate:
    """The server's certificate chain and its key, both PEM. `context` is used for new connections; open connections keep their
    certificate.
    """

    def __init__(self, certificate: Path, key: Path | None = None) -> None:
        """Load the certificate and key. Raises ConfigError."""
        self._certificate, self._key = certificate, key
        self._loaded = self._state()
        self._refused: object = None
        self.context = self._read()

    def reload(self) -> bool:
        """Load the files again if they have changed. Returns whether they have. If certificate and key do not match, this is logged, and
        loading is tried again later.
        """
        state = self._state()
        if state in (self._loaded, self._refused):
            return False
        try:
            self._read()  # try the files in a new context first: the one in use would keep a certificate whose key does not match
            self.context.load_cert_chain(self._certificate, self._key)
        except (ConfigError, OSError) as error:
            log.warning("%s; the certificate that was loaded before stays in use", error)
            self._refused = state
            return False
        self._loaded, self._refused = state, None
        log.info("the certificate %s was loaded again", self._certificate)
        return True

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._certificate, self._key, password=_no_password)
        except (OSError, ValueError) as error:
            named = f"{self._certificate}" + (f" and {self._key}" if self._key else "")
            raise ConfigError(
                f"TLS cannot use {named}: {_reason(error)}", "tls_cert_file and tls_key_file must be PEM, the key without a password"
            ) from error
        return context

    def _state(self) -> object:
        """The attributes of the files that change when a file is replaced."""
        return tuple(_identity(path) for path in (self._certificate, self._key) if path)


def server_certificate(settings: Settings) -> ServerCertificate | None:
    """The certificate of the settings; None without TLS. Raises ConfigError."""
    if settings.tls_cert_file:
        key = Path(settings.tls_key_file).expanduser() if settings.tls_key_file else None
        return ServerCertificate(Path(settings.tls_cert_file).expanduser(), key)
    if settings.tls_key_file:
        raise ConfigError("tls_key_file is set, tls_cert_file is not", "set both, or neither")
    return None


def trusted_by_clients(settings: Settings) -> ssl.SSLContext | bool:
    """Which certificates clients of the configured server trust, in the form of httpx's `verify`. Raises ConfigError."""
    if not settings.address.startswith("https:"):
        return False
    if settings.url:
        return remote_server_context(Path(settings.url_ca_file).expanduser() if settings.url_ca_file else None)
    return own_server_context(Path(settings.tls_cert_file).expanduser())


def own_server_context(certificate: Path) -> ssl.SSLContext:
    """The TLS trust of programs on this machine. They only trust a server that has the first certificate in a PEM file, whatever its host
    name.

    Authorities in the rest of the file are not trusted, because they may have issued certificates for other servers too. Raises
    ConfigError.
    """
    try:
        first = _FIRST.search(certificate.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{certificate} cannot be used: {_reason(error)}", "it must contain certificates in PEM") from error
    if first is None:
        raise ConfigError(f"{certificate} contains no certificate", "it must contain certificates in PEM")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=first[0])
    return context


def remote_server_context(authorities: Path | None) -> ssl.SSLContext:
    """The TLS trust of programs that call a server elsewhere. They trust the system's authorities, and those in a PEM file. Raises
    ConfigError.
    """
    context = ssl.create_default_context()
    if authorities:
        try:
            context.load_verify_locations(authorities)
        except OSError as error:
            raise ConfigError(f"{authorities} cannot be used: {_reason(error)}", "it must contain certificates in PEM") from error
    return context


def _no_password() -> str:
    raise ValueError("the key is protected by a password; use a key without one")


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)

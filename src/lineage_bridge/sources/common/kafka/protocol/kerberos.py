"""Logs in by Kerberos with a principal and keytab from the settings. kafka-python itself only supports the ticket cache."""

from typing import Any

from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI
from typing_extensions import Self

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.kafka.settings import KafkaSettings


class KerberosService(str):
    """The Kerberos service name of the brokers. It also has the credentials, because kafka-python passes nothing else to the login
    mechanism.
    """

    __slots__ = ("keytab", "principal")

    keytab: str
    principal: str

    def __new__(cls, settings: KafkaSettings) -> Self:
        """Make the service name that these settings state, with their credentials."""
        made = super().__new__(cls, settings.kerberos_service_name)
        made.keytab, made.principal = settings.kerberos_keytab, settings.kerberos_principal
        return made


class Mechanism(SaslMechanismGSSAPI):  # type: ignore[misc]  # a class without types
    """The SASL mechanism GSSAPI with the credentials in a KerberosService. The exchange with the broker is kafka-python's."""

    def __init__(self, **config: Any) -> None:  # noqa: ANN401  # kafka-python has no types
        import gssapi  # noqa: PLC0415  # an optional dependency

        service: KerberosService = config["sasl_kerberos_service_name"]
        self._is_done = self._is_authenticated = False
        self.auth_id = f"{service}@{config['host']}"
        named = gssapi.Name(self.auth_id, name_type=gssapi.NameType.hostbased_service)
        self.gssapi_name = named.canonicalize(gssapi.MechType.kerberos)
        who = gssapi.Name(service.principal, name_type=gssapi.NameType.kerberos_principal) if service.principal else None
        held = None
        if who or service.keytab:
            held = gssapi.Credentials(name=who, usage="initiate", store={"client_keytab": service.keytab} if service.keytab else None)
        self._client_ctx = gssapi.SecurityContext(name=self.gssapi_name, creds=held, usage="initiate")
        self._next_token = self._client_ctx.step(None)


def prepare() -> None:
    """Check that Kerberos is available. Raises ConfigError."""
    try:
        import gssapi  # noqa: F401, PLC0415  # an optional dependency
    except (ImportError, OSError) as error:
        raise ConfigError(
            "Kerberos requires the package gssapi and the system's Kerberos library", "install it with: pip install gssapi"
        ) from error
    register_sasl_mechanism("GSSAPI", Mechanism, overwrite=True)

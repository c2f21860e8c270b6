"""Reads the addresses of an issuer from its discovery document (OpenID Connect Discovery 1.0, RFC 8414, RFC 9207)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class IssuerEndpoints:
    """The addresses of an issuer. An address that the issuer does not state, or that is not `https`, is empty.

    `names_itself`: when the issuer sends a browser back, it adds the parameter `iss`. `takes_basic`: clients may authenticate at the
    address `token` by HTTP Basic; otherwise, they authenticate in the body of the request.
    """

    keys: str = ""
    authorization: str = ""
    token: str = ""
    userinfo: str = ""
    end_session: str = ""
    names_itself: bool = False
    takes_basic: bool = True


def read_endpoints(document: Mapping[str, Any], issuer: str) -> IssuerEndpoints:
    """Read the addresses in a discovery document. `http` is only accepted if the issuer's own address uses it, which is allowed on this
    machine.
    """

    def address(name: str) -> str:
        url = document.get(name)
        allowed = ("https://", "http://") if issuer.startswith("http://") else ("https://",)
        return url if isinstance(url, str) and url.startswith(allowed) and url.isascii() and url.isprintable() else ""

    methods = document.get("token_endpoint_auth_methods_supported")
    return IssuerEndpoints(
        address("jwks_uri"),
        address("authorization_endpoint"),
        address("token_endpoint"),
        address("userinfo_endpoint"),
        address("end_session_endpoint"),
        document.get("authorization_response_iss_parameter_supported") is True,
        not isinstance(methods, list) or "client_secret_basic" in methods or "client_secret_post" not in methods,
    )

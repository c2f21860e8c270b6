"""Keys and certificates of one run: an authority, a server on loopback, and a client."""

from dataclasses import dataclass
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key


@dataclass(frozen=True)
class Tls:
    """Files in PEM. The server's is its key and certificates in one; the client's certificate is of CLIENT."""

    authority: Path
    server: Path
    client_key: Path
    client_certificate: Path


CLIENT = "tls-client"


def made_in(folder: Path) -> Tls:
    """Writes the files, good for 127.0.0.1 and localhost."""
    authority = trustme.CA()
    server = authority.issue_cert("127.0.0.1", "localhost")
    client = authority.issue_cert("client.localhost", common_name=CLIENT)
    files = Tls(*(folder / f"{name}.pem" for name in ("authority", "server", "client-key", "client")))
    authority.cert_pem.write_to_path(str(files.authority))
    files.server.write_bytes(_key(server) + b"".join(certificate.bytes() for certificate in server.cert_chain_pems))
    files.client_key.write_bytes(_key(client))
    files.client_certificate.write_bytes(b"".join(certificate.bytes() for certificate in client.cert_chain_pems))
    return files


def _key(certificate: trustme.LeafCert) -> bytes:
    """The private key as Java reads it: PKCS#8."""
    key = load_pem_private_key(certificate.private_key_pem.bytes(), password=None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

"""Sending events of sources to the API: what fails meanwhile is tried again, whatever it was."""

from functools import partial
from pathlib import Path

import pytest
import trustme
from tests.ports import free_port

from lineage_bridge.config import Settings
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.errors import UnavailableError
from lineage_bridge.ports.sources import OutboxMessage
from lineage_bridge.sources.runtime.outbox import OutboxDispatcher


def test_a_certificate_that_is_just_being_replaced_only_delays(tmp_path: Path) -> None:
    certificate = tmp_path / "chain.pem"
    issued = trustme.CA().issue_cert("localhost")
    certificate.write_bytes(issued.cert_chain_pems[0].bytes())
    settings = Settings(port=free_port(), tls_cert_file=str(certificate))
    message = OutboxMessage(1, "/api/v1/lineage", b"{}")
    with OutboxDispatcher(settings.address, lambda: "", partial(trusted_by_clients, settings)) as deliver:
        for content in (None, b"", issued.cert_chain_pems[0].bytes()):
            certificate.unlink(missing_ok=True)
            if content is not None:
                certificate.write_bytes(content)
            with pytest.raises(UnavailableError, match="the API does not answer"):
                deliver(message)

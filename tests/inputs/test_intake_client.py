"""The client that hands records to the API: what it says when it cannot."""

import pytest
from tests.ports import free_ports

from lineage_bridge.errors import UnavailableError
from lineage_bridge.inputs.intake_client import IntakeClient


def test_a_call_is_repeated_also_if_another_thread_has_just_closed_the_connections() -> None:
    (port,) = free_ports(1)
    with IntakeClient(f"http://127.0.0.1:{port}", lambda: "key") as client:
        pass
    for _ in range(2):
        with pytest.raises(UnavailableError):
            client.positions("events")

import pytest
from tests.sources import scripted

from lineage_bridge.sources import kinds


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> dict:
    """What scripted sources see, by system."""
    monkeypatch.setitem(kinds.MODULES, "scripted", scripted.__name__)
    scripted.SCRIPTS.clear()
    scripted.SEEN.clear()
    return scripted.SCRIPTS

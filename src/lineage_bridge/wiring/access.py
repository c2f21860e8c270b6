"""API keys, and who may use the server."""

from secrets import token_bytes

from lineage_bridge.access.keys import ApiKeys
from lineage_bridge.config import Settings
from lineage_bridge.store.state.keys import ApiKeyRepository
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import state_database


def key_service(settings: Settings) -> ApiKeys:
    """The API keys of a data folder, whether or not a server runs on it."""
    state = state_database(settings)
    return ApiKeys(ApiKeyRepository(state), state.key(), now_us, token_bytes)

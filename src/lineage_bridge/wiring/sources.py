"""Sets up the process that observes sources."""

import os
from collections.abc import Callable
from functools import partial

from lineage_bridge.config import Settings, user_credentials
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.sources.confluent.environment import source_from_environment
from lineage_bridge.sources.runtime.outbox import OutboxDispatcher
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.wiring.processes import alone_until_signal, now_us
from lineage_bridge.wiring.shared import internal_credentials, source_context, state_database


def source_service(settings: Settings) -> SourceService:
    """The service for users' operations on sources. Raises ConfigError for an invalid source in the settings file."""
    state = state_database(settings)
    service = SourceService(settings.sources, SourceRepository(state), source_context(settings), source_from_environment(os.environ))
    service.check_file()
    return service


def run_sources(settings: Settings) -> None:
    """Poll the sources when they are due, until a signal. Raises UnavailableError when another process polls them."""
    service, repository = source_service(settings), SourceRepository(state_database(settings))
    with (
        alone_until_signal(settings.paths.observe_lock, f"another process polls the sources of {settings.data_dir}") as stop,
        OutboxDispatcher(settings.address, _credentials(settings), partial(trusted_by_clients, settings)) as dispatcher,
    ):
        Poller(service.records, repository, dispatcher, now_us, source_context(settings), SourceLocks(settings.paths.turns).hold).run(stop)


def _credentials(settings: Settings) -> Callable[[], str]:
    """The API key for sending events: the internal key, if the server uses this data folder (it changes at each start of the server), else
    the user's key.
    """
    if not settings.url:
        return lambda: internal_credentials(settings)
    key = user_credentials(settings, os.environ)
    return lambda: key

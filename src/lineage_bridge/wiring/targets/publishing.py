"""The process that publishes to a target, and what the API needs for targets."""

import os
import subprocess
import sys
import threading
from functools import partial

from filelock import FileLock, Timeout
from msgspec.structs import replace

from lineage_bridge.catalogs.apply import Publisher
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.publish import Publication
from lineage_bridge.catalogs.service import TargetService
from lineage_bridge.config import Settings
from lineage_bridge.errors import UnavailableError
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.targets import PublicationLedger, TargetRepository
from lineage_bridge.wiring.processes import is_alive, now_us
from lineage_bridge.wiring.shared import readers, source_context, state_database

LOCK_S = 10
"""How long to wait for a process that has published, and is just ending."""
COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main", "publication")


def target_service(settings: Settings) -> TargetService:
    """What users can do with targets. Raises ConfigError for an invalid target in the settings file."""
    state = state_database(settings)
    repository = TargetRepository(state)
    service = TargetService(
        settings.targets,
        repository,
        PublicationLedger(state),
        TargetKinds(settings.paths.published, source_context(settings)),
        partial(_begin, settings, repository),
        is_alive,
        now_us,
    )
    service.check_file()
    return service


def _begin(settings: Settings, repository: TargetRepository, name: str, report: PublicationReport) -> None:
    """Start the process of a publication, which ends when this one does."""
    repository.save_report(name, replace(report, pid=os.getpid()))
    flags = (("--plan", report.plan_only), ("--prune", report.prune), ("--overwrite", report.overwrite))
    process = subprocess.Popen(  # noqa: S603  # our own command
        [*COMMAND, name, *(flag for flag, is_set in flags if is_set)],
        stdin=subprocess.PIPE,
        env={**os.environ, **settings.environment()},
    )

    def watch() -> None:
        code = process.wait()
        if process.stdin:
            process.stdin.close()
        last = repository.report(name)
        begun = (os.getpid(), report.started_us)
        is_its = last is not None and (last.pid == process.pid or (last.pid, last.started_us) == begun)
        if last is not None and is_its and last.state == "running":
            message = f"the process that published ended with code {code}"
            repository.save_report(name, replace(last, state="interrupted", ended_us=now_us(), error=message))

    threading.Thread(target=watch, name=f"publishing to {name}", daemon=True).start()


def publish(settings: Settings, name: str, *, plan_only: bool, prune: bool, overwrite: bool) -> PublicationReport:
    """Plan for a target, and publish to it unless `plan_only`. Raises UnavailableError while another process does."""
    service, state = target_service(settings), state_database(settings)
    settings.paths.publishing.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(settings.paths.publishing / f"{name}.lock", timeout=LOCK_S), readers(settings.paths) as pool:
            repository = TargetRepository(state)
            report = PublicationReport("running", plan_only, prune, overwrite, now_us(), os.getpid())
            target = service.target(name)
            try:
                publisher = Publisher(target, PublicationLedger(state), graph_id(state.key()), now_us)
                return Publication(publisher, pool.reader, report, partial(repository.save_report, name)).run()
            finally:
                target.close()
    except Timeout as error:
        raise UnavailableError(f"another process publishes to target {name}") from error

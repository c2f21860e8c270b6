"""The operations on targets that users can perform."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol

import msgspec

from lineage_bridge.catalogs.continuous.status import PUBLISHING, Followed
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.catalogs.settings import CONTINUOUS, HIDDEN
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError, LineageBridgeError, NotFoundError, RequestError
from lineage_bridge.model.sources import KindRecord, SourceCheck
from lineage_bridge.ports.continuous import ContinuousStatus, ContinuousTarget
from lineage_bridge.ports.targets import LedgerEntry, PublicationLedger, PublicationReport, TargetRecord, TargetRepository
from lineage_bridge.sources.common.descriptions import describe_settings

NO_TARGETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType({})
_ORIGINS: Final = {"file": "settings file", "environment": "environment"}
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def destination_of(target: Target[Any]) -> str:
    """The destination by which the ledger identifies a target: its name, and the address from its settings."""
    return f"{target.name} {target.settings.destination}"


class PublicationProcesses(Protocol):
    """Starts and stops processes that publish, each to one target."""

    def begin(self, name: str, report: PublicationReport) -> None:
        """Start a process, with the initial report. Raises RequestError if one is already publishing to this target."""

    def cancel(self, name: str) -> None:
        """Stop the process that publishes to this target; its report is then `cancelled`."""

    def is_publishing(self, pid: int) -> bool:
        """Whether a process id belongs to a running publication."""

    def targets(self) -> frozenset[str]:
        """The names of the targets to which a process is publishing."""


class TargetService:
    """Implements `ports.TargetService` over the targets of the settings file (name to settings, with `kind`) and those that users added.

    `processes` publish; `followed` is the status of continuous publishing. `in_environment` are the targets that environment variables
    define. Such a target is used only if no other target has its kind or name.
    """

    def __init__(
        self,
        in_file: Mapping[str, Mapping[str, Any]],
        repository: TargetRepository,
        ledger: PublicationLedger,
        kinds: TargetKinds,
        processes: PublicationProcesses,
        clock_us: Callable[[], int],
        followed: Followed,
        in_environment: Mapping[str, Mapping[str, Any]] = NO_TARGETS,
    ) -> None:
        self._in_file, self._in_environment = _split_kinds(in_file), _split_kinds(in_environment)
        self._repository, self._ledger, self._kinds = repository, ledger, kinds
        self._processes, self._clock_us, self._followed = processes, clock_us, followed

    def check_file(self) -> None:
        """Raise ConfigError if a target of the settings file is invalid."""
        for name, (kind, settings) in sorted(self._in_file.items()):
            self._made(name, kind, settings).close()

    def kinds(self) -> list[KindRecord]:
        """All kinds of targets, by name."""
        return [_describe(name, self._kinds.load(name)) for name in self._kinds.names]

    def records(self) -> list[TargetRecord]:
        """All targets, by name. A target in the settings file hides an added target of the same name."""
        paused, every = self._repository.paused(), self._every()
        return [self._record(name, *every[name], paused=name in paused) for name in sorted(every)]

    def _record(self, name: str, kind: str, settings: dict[str, Any], origin: str, *, paused: bool) -> TargetRecord:
        try:
            counts = self._ledger.counts(destination_of(self._made(name, kind, settings)))
        except ConfigError:  # such as a secret that no longer exists: publishing reports it
            counts = {}
        report = self._repository.report(name)
        if report and report.state == "running" and not self._processes.is_publishing(report.pid):
            report = self._repository.report(name)  # it may have ended in the meantime
            if report and report.state == "running":
                report = msgspec.structs.replace(report, state="interrupted")
        is_continuous = settings.get("publish") == CONTINUOUS
        continuous = self._followed.status(name, paused=paused) if is_continuous else None
        return TargetRecord(name, kind, settings, origin, paused, counts, report, continuous)

    def followed(self) -> dict[str, ContinuousStatus]:
        """The status of continuous publishing for the targets that use it and are not paused. Cheaper than `records`."""
        active = (target.name for target in self.configured() if target.settings.get("publish") == CONTINUOUS and not target.paused)
        return {name: self._followed.status(name, paused=False) for name in active}

    def configured(self) -> list[ContinuousTarget]:
        """All targets as configured, by name. Cheaper than `records`."""
        paused, every = self._repository.paused(), self._every()
        return [ContinuousTarget(name, *every[name][:2], paused=name in paused) for name in sorted(every)]

    def _every(self) -> dict[str, tuple[str, dict[str, Any], str]]:
        """The kind, settings and origin of each target, by name."""
        every = {name: (*own, "added") for name, own in self._repository.added().items()}
        every |= {name: (*own, "file") for name, own in self._in_file.items()}
        kinds = {kind for kind, _, _ in every.values()}
        new = {name: own for name, own in self._in_environment.items() if name not in every and own[0] not in kinds}
        return every | {name: (*own, "environment") for name, own in new.items()}

    def record(self, name: str) -> TargetRecord:
        """The target with this name. Raises NotFoundError."""
        found = next((record for record in self.records() if record.name == name), None)
        if found is None:
            raise NotFoundError(f"there is no target {name}", "list the targets: lineage-bridge target list")
        return found

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> TargetRecord:
        """Add a target.

        Raises RequestError if its name is taken, or if it would hide a target of the environment to which a publication is running;
        ConfigError if its settings are invalid.
        """
        if name in self._in_file:
            raise RequestError(f"target {name} is defined in the settings file", "change it there")
        if not replace and name in self._repository.added():
            hint = "replace it, or choose another name"
            raise RequestError(f"target {name} already exists", hint, {"name": f"it already exists: {hint}"})
        self._made(name, kind, settings).close()
        for hidden, (own_kind, _, origin) in self._every().items():
            if origin == "environment" and (hidden == name or own_kind == kind):
                self._check_idle(self.record(hidden))
        self._repository.save(name, kind, settings)
        return self.record(name)

    def remove(self, name: str) -> None:
        """Remove a target; what was published stays at the target, and in the ledger. Raises NotFoundError, RequestError."""
        record = self.record(name)
        if record.origin != "added":
            raise RequestError(f"target {name} is defined in the {_ORIGINS[record.origin]}", "remove it there, or pause it")
        self._check_idle(record)
        self._repository.remove(name)

    def pause(self, name: str, *, paused: bool) -> TargetRecord:
        """Pause or resume a target: while it is paused, nothing is published to it. Raises NotFoundError."""
        self.record(name)
        self._repository.pause(name, paused=paused)
        return self.record(name)

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of publishing without changing anything at the target; return a check for each, including failed ones."""
        try:
            target = self.target(name)
        except ConfigError as error:
            return [SourceCheck("settings", works=False, message=str(error), hint=error.hint)]
        try:
            return target.test()
        except LineageBridgeError as error:
            return [SourceCheck("connect", works=False, message=str(error), hint=error.hint)]
        finally:
            target.close()

    def start(self, name: str, *, plan_only: bool, prune: bool, overwrite: bool) -> TargetRecord:
        """Start a plan or a publication. Raises RequestError if the target is paused, or another one is running."""
        record = self.record(name)
        if record.paused and not plan_only:
            raise RequestError(f"target {name} is paused", f"resume it first: lineage-bridge target resume {name}")
        self._check_idle(record)
        self._processes.begin(name, PublicationReport("running", plan_only, prune, overwrite, self._clock_us()))
        return self.record(name)

    def cancel(self, name: str) -> TargetRecord:
        """Cancel the running plan or publication that was requested. Raises NotFoundError, RequestError if there is none."""
        record = self.record(name)
        if record.report is None or record.report.state != "running":
            raise RequestError(f"no publication to target {name} is running", f"`lineage-bridge target show {name}` shows the last one")
        self._processes.cancel(name)
        return self.record(name)

    def publishing(self) -> frozenset[str]:
        """The names of the targets with a running plan or publication that was requested."""
        return self._processes.targets()

    def ledger(self, name: str, after: str, limit: int) -> Sequence[LedgerEntry]:
        """What was published to a target, by key, after a given key. Raises NotFoundError, ConfigError."""
        return self._ledger.page(destination_of(self.target(name)), after, limit)

    def target(self, name: str) -> Target[Any]:
        """Create the target with this name, to publish to it. Raises NotFoundError, ConfigError."""
        record = self.record(name)
        return self._made(name, record.kind, record.settings)

    def _check_idle(self, record: TargetRecord) -> None:
        is_publishing = record.continuous is not None and record.continuous.activity == PUBLISHING
        if is_publishing or (record.report and record.report.state == "running"):
            raise RequestError(
                f"a publication to target {record.name} is running", f"follow it with: lineage-bridge target show {record.name}"
            )

    def _made(self, name: str, kind: str, settings: Mapping[str, Any]) -> Target[Any]:
        if not _NAME.fullmatch(name):
            hint = "use at most 100 letters, digits, . _ -, and begin with a letter or digit"
            raise ConfigError(f"{name!r} is not a valid name of a target", hint, {"name": f"it is not a valid name: {hint}"})
        return self._kinds.make(name, kind, settings)


def _split_kinds(targets: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Split the settings of targets: the kind and the other settings of each target, by name."""
    return {name: (str(own.get("kind", "")), {k: v for k, v in own.items() if k != "kind"}) for name, own in targets.items()}


def _describe(name: str, kind: TargetKind) -> KindRecord:
    return KindRecord(name, kind.summary, describe_settings(kind.settings, HIDDEN))

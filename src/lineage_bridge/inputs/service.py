"""The operations on inputs that users can perform."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from lineage_bridge.conversion import decode
from lineage_bridge.errors import ConfigError, LineageBridgeError, NotFoundError, RequestError
from lineage_bridge.ingest.payload import SplitPayload, split_payload
from lineage_bridge.inputs.input import IncomingRecord, InputKind
from lineage_bridge.inputs.judging import RecordJudge, is_left_out, why_left_out
from lineage_bridge.inputs.kinds import KINDS, InputKinds
from lineage_bridge.inputs.openmetadata import translated
from lineage_bridge.inputs.settings import InputSettings, JobPatterns, is_streamed
from lineage_bridge.inputs.values import payload_of
from lineage_bridge.model.sources import InputProgress, InputRecord, InputStatus, KindRecord, SourceCheck
from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.ports.inputs import InputRepository, InputsReport
from lineage_bridge.sources.common.descriptions import describe_settings
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext

SILENT_US: Final = 10_000_000
"""Microseconds without a report after which a process that reads inputs counts as silent."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class InputService:
    """Implements `ports.InputService` over the inputs of the settings file (name to settings, with `kind`) and those that users added.

    `progress` returns the counts of an input's events in the log and the archive. `report` returns the last report of the process that
    reads inputs, `streams` that of the pipeline, which reads the inputs of the form `stream`; each returns None if the process does not
    run. `installation` and `key` are the id and the key of this installation.
    """

    def __init__(
        self,
        in_file: Mapping[str, Mapping[str, Any]],
        repository: InputRepository,
        clock_us: Callable[[], int],
        context: SourceContext = NO_CONTEXT,
        *,
        progress: Callable[[str], InputProgress | None] = lambda _: None,
        report: Callable[[], InputsReport | None] = lambda: None,
        streams: Callable[[], InputsReport | None] = lambda: None,
        installation: str = "",
        key: bytes = b"",
        kinds: InputKinds = KINDS,
    ) -> None:
        self._in_file = {name: translated(name, dict(settings)) for name, settings in in_file.items()}
        self._repository, self._clock_us, self._context, self._kinds = repository, clock_us, context, kinds
        self._progress, self._report, self._streams, self._installation, self._key = progress, report, streams, installation, key

    def check_file(self) -> None:
        """Raise ConfigError if an input of the settings file is invalid."""
        for name, (kind, settings) in sorted(self._in_file.items()):
            self._check(name, kind, settings)

    def kinds(self) -> list[KindRecord]:
        """All kinds of inputs, by name."""
        return [_describe(name, self._kinds.load(name)) for name in self._kinds.names]

    def configured(self) -> list[InputRecord]:
        """All inputs by name, without progress and status. If the settings file and a user define the same name, the input of the
        settings file is used.
        """
        paused, added = self._repository.paused(), self._repository.added()
        found = {name: InputRecord(name, *own, "added", name in paused) for name, own in added.items()}
        found |= {name: InputRecord(name, *own, "file", name in paused) for name, own in self._in_file.items()}
        return [found[name] for name in sorted(found)]

    def records(self) -> list[InputRecord]:
        """All inputs, by name."""
        statuses = {name: status for read in (self._report, self._streams) for name, status in self._current(read).items()}
        return [
            record._replace(progress=self._progress(record.name), status=None if record.paused else statuses.get(record.name))
            for record in self.configured()
        ]

    def record(self, name: str) -> InputRecord:
        """The input with this name. Raises NotFoundError."""
        found = next((record for record in self.records() if record.name == name), None)
        if found is None:
            raise _no_input(name)
        return found

    def check(self, name: str) -> None:
        """Check that there is an input with this name. Raises NotFoundError otherwise."""
        if name not in self._in_file and name not in self._repository.added():
            raise _no_input(name)

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> InputRecord:
        """Add an input. Raises RequestError if its name is taken, ConfigError if its settings are invalid."""
        if name in self._in_file:
            raise RequestError(f"input {name} is defined in the settings file", "change it there")
        if not replace and name in self._repository.added():
            hint = "replace the input with --replace, or choose another name"
            raise RequestError(f"input {name} already exists", hint, {"name": f"it already exists: {hint}"})
        kind, own = translated(name, {**settings, "kind": kind})
        self._check(name, kind, own)
        self._repository.save(name, kind, own)
        return self.record(name)

    def remove(self, name: str) -> None:
        """Remove an input. Raises NotFoundError, RequestError."""
        if self.record(name).origin != "added":
            raise RequestError(f"input {name} is defined in the settings file", "remove it there, or pause it")
        self._repository.remove(name)

    def pause(self, name: str, *, paused: bool) -> InputRecord:
        """Pause or resume an input. Raises NotFoundError."""
        self.record(name)
        self._repository.pause(name, paused=paused)
        return self.record(name)

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of reading an input, and return how each went, also the failed ones."""
        record = self.record(name)
        done: list[SourceCheck] = []
        try:
            made = self._kinds.make(name, record.kind, record.settings, self._context, self._installation)
            done += made.test(lambda incoming: self._judged(made.settings, name, incoming))
        except LineageBridgeError as error:
            step = "settings" if isinstance(error, ConfigError) else "connect"
            done.append(SourceCheck(step, works=False, message=str(error), hint=error.hint))
        return done

    def left_out(self, name: str, event: Event) -> Rejected | None:
        """The reason why an input does not accept an event, according to its present setting `jobs`; None if it accepts it, or if
        there is no such input.
        """
        _, settings = self._in_file.get(name) or self._repository.added().get(name) or ("", {})
        return why_left_out(name, JobPatterns.model_validate(settings.get("jobs", {})), event)

    def events_in(self, value: bytes) -> Sequence[bytes]:
        """Split the value of a record into events, in the way in which inputs now read values. If that is not possible, return the value
        itself.
        """
        payload = payload_of(value)
        events = payload if isinstance(payload, SplitPayload) else split_payload(payload)
        return [value] if events.rejected or not events.items else events.items

    def problem(self, records: Sequence[InputRecord]) -> str:
        """The reason why these inputs are not read; empty if they are."""
        streamed = {record.name for record in records if is_streamed(record.settings)}
        readers = [
            (self._report, "reads inputs", "no process reads inputs", len(streamed) < len(records)),
            (self._streams, "reads inputs with Spark", "the pipeline, which reads inputs with Spark, does not run", bool(streamed)),
        ]
        for read, what, absent, needed in readers:
            report = read() if needed else None
            if needed and report is None:
                return absent
            silent_us = self._clock_us() - report.beat_us if report else 0
            if report and silent_us > SILENT_US:
                return f"process {report.pid}, which {what}, has not reported for {silent_us / 1e6:.0f} s"
        failing = [record.name for record in records if record.status and record.status.state == "failing"]
        return f"failing: {', '.join(failing)}" if failing else ""

    def _current(self, read: Callable[[], InputsReport | None]) -> Mapping[str, InputStatus]:
        """The states of inputs in a report; empty if the report is too old."""
        report = read()
        return report.inputs if report and self._clock_us() - report.beat_us <= SILENT_US else {}

    def _judged(self, settings: InputSettings, name: str, incoming: IncomingRecord) -> str:
        """The verdict on a record, in words. Raises RequestError if an event in it would be rejected."""
        judged = RecordJudge.make_judge(name, "", settings, self._key).judged(incoming, self._clock_us)
        left_out = sum(map(is_left_out, judged))
        for event in judged:
            if isinstance(event.verdict, Rejected) and not is_left_out(event):
                verdict = event.verdict
                raise RequestError(f"an event would be rejected: {verdict.code} at {verdict.path}: {verdict.message}")
        count = len(judged) - left_out
        accepted = f"{count} event{'' if count == 1 else 's'} would be accepted"
        return f"{accepted}, and {left_out} left out by the setting jobs" if left_out else accepted

    def _check(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        if not _NAME.fullmatch(name):
            hint = "use at most 100 letters, digits, . _ -, and begin with a letter or digit"
            raise ConfigError(f"{name!r} is not a valid name of an input", hint, {"name": f"it is not a valid name: {hint}"})
        self._kinds.make(name, kind, settings, self._context)


def _no_input(name: str) -> NotFoundError:
    return NotFoundError(f"there is no input {name}", "list the inputs: lineage-bridge input list")


def _describe(name: str, kind: InputKind) -> KindRecord:
    return KindRecord(name, kind.summary, describe_settings(kind.settings))


def read_report(text: bytes) -> InputsReport | None:
    """Parse the report in a file; None if it is damaged."""
    try:
        return decode(text, InputsReport)
    except msgspec.DecodeError:
        return None

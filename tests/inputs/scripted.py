"""An input without a system behind it: tests write down what it reads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from lineage_bridge.errors import LineageBridgeError, RequestError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Input, InputKind, Positions, ReadingState
from lineage_bridge.inputs.kinds import InputKinds
from lineage_bridge.inputs.settings import InputSettings
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.settings import Secret

WHERE = StreamPartition("stream", "life", "0")


def record(offset: int, value: bytes | None, where: StreamPartition = WHERE) -> IncomingRecord:
    return IncomingRecord(where, offset, value, 1_795_000_000_000)


class ScriptedSettings(InputSettings):
    """`script` names the batches to read."""

    script: str
    password: Secret | None = None


class ScriptedInput(Input[ScriptedSettings]):
    """Reads what SCRIPTS has under its name: batches of records, or errors to raise. `acknowledged` is what was acknowledged."""

    SCRIPTS: ClassVar[dict[str, list[Sequence[IncomingRecord] | Exception]]] = {}
    acknowledged: ClassVar[dict[str, dict[StreamPartition, int]]] = {}
    opened: ClassVar[dict[str, int]] = {}
    closed: ClassVar[dict[str, int]] = {}
    problems: ClassVar[dict[str, tuple[str, ...]]] = {}

    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        yield SourceCheck("connect", True, "there")
        for batch in self.SCRIPTS[self.settings.script]:
            if isinstance(batch, LineageBridgeError):
                raise batch
            assert not isinstance(batch, Exception)
            yield from (judged(judge, incoming) for incoming in batch)

    def open(self, positions: Positions) -> None:
        self.positions = positions
        self.opened[self.name] = self.opened.get(self.name, 0) + 1

    def read(self, most: int) -> Sequence[IncomingRecord]:
        script = self.SCRIPTS[self.settings.script]
        if not script:
            return []
        batch = script.pop(0)
        if isinstance(batch, Exception):
            raise batch
        return batch[:most]

    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        self.acknowledged.setdefault(self.name, {}).update(ends)

    def keep_alive(self) -> None:
        pass

    def reading_state(self) -> ReadingState:
        return ReadingState(1, 0, problems=self.problems.get(self.name, ()))

    def close(self) -> None:
        self.closed[self.name] = self.closed.get(self.name, 0) + 1


def judged(judge: Callable[[IncomingRecord], str], incoming: IncomingRecord) -> SourceCheck:
    try:
        return SourceCheck("record", True, judge(incoming))
    except RequestError as error:
        return SourceCheck("record", False, str(error))


KIND = InputKind(ScriptedSettings, ScriptedInput, "what a test writes down", "scripted")
KINDS = InputKinds({"scripted": __name__, "kafka": "lineage_bridge.inputs.kafka.kafka_input"})

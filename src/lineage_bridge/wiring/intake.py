"""Where received events are written: to the embedded log, or to the topic of an input."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lineage_bridge.api.position_tokens import Position, encode
from lineage_bridge.config import Settings
from lineage_bridge.config.log_format import REQUEST_ID
from lineage_bridge.errors import ConfigError
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.ingest.ingest import ANY_SIZE, RecordLimits
from lineage_bridge.inputs.kafka.settings import EARLIEST, KafkaInputSettings
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.openmetadata import translated
from lineage_bridge.inputs.settings import STREAM
from lineage_bridge.inputs.topic_record import size_of
from lineage_bridge.ports.log import LOG_SOURCE, EventLog
from lineage_bridge.wiring.shared import source_context

if TYPE_CHECKING:
    from lineage_bridge.inputs.kafka.topic_log import TopicLog

_HINT: Final = 'intake names an input of the settings file with kind = "kafka", form = "stream", and one topic'


def intake_settings(settings: Settings) -> KafkaInputSettings | None:
    """The input to whose topic received events are written; None if they are written to the log. Raises ConfigError."""
    name = settings.intake
    if not name:
        return None
    if name not in settings.inputs:
        raise ConfigError(f"intake: the settings file has no input {name!r}", _HINT)
    kind, given = translated(name, dict(settings.inputs[name]))
    if kind != "kafka" or given.get("form") != STREAM:
        raise ConfigError(f"intake: input {name} is not read from Kafka in the form stream", _HINT)
    found: KafkaInputSettings = KINDS.make_stream(name, kind, given, source_context(settings)).settings
    if len(found.topics) != 1 or found.globs or found.exclude_topics:
        raise ConfigError(f"intake: input {name} reads not exactly one topic", _HINT)
    if found.namespaces or found.start != EARLIEST:
        raise ConfigError(f"intake: input {name} does not read all events of its topic", "remove its settings namespaces and start")
    return found


@dataclass(frozen=True)
class ReceivedLog:
    """The embedded log in `folder`, and the topic that received events are written to instead, if there is one."""

    folder: Path
    writer: LogWriter
    topic: "TopicLog | None" = None

    @property
    def log(self) -> EventLog:
        """Where received events are written."""
        return self.topic or self.writer

    def state(self) -> str:
        """Whether events can be written: HEALTHY, or why not."""
        from lineage_bridge.api.services import HEALTHY  # noqa: PLC0415  # loads the web server

        if not os.access(self.folder, os.W_OK):
            return f"{self.folder} cannot be written"
        return self.topic.problem if self.topic and self.topic.problem else HEALTHY

    def limits(self) -> RecordLimits:
        """How large a record may be."""
        return RecordLimits(self.topic.most_bytes, size_of) if self.topic else ANY_SIZE

    def topic_ends(self) -> Position:
        """The end of the topic; empty without one."""
        return self.topic.ends() if self.topic else {}

    def token(self) -> str:
        """The end of the topic as a token; empty without a topic."""
        return encode(self.topic_ends()) if self.topic else ""

    def ends(self) -> Position:
        """The end of everything that was accepted."""
        return {(LOG_SOURCE, 0): self.writer.end(), **self.topic_ends()}


def received_log(settings: Settings, writer: LogWriter, stack: ExitStack) -> ReceivedLog:
    """What writes received events, until `stack` is closed. Raises ConfigError."""
    found, folder = intake_settings(settings), settings.paths.log
    if found is None:
        return ReceivedLog(folder, writer)
    from lineage_bridge.inputs.kafka.topic_log import TopicLog  # noqa: PLC0415  # loads Kafka's client

    topic = TopicLog(found, writer, most_pending=settings.pending_bytes, request=REQUEST_ID.get)
    stack.callback(topic.close)
    return ReceivedLog(folder, writer, topic)

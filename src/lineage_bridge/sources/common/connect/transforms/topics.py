"""How transforms change topic names. Each function takes a name and the transform's settings, and returns the names that are possible
afterwards.
"""

import re
from typing import NamedTuple

from lineage_bridge.sources.common.connect.placeholders import TO_FILL_IN
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, replace_all_of
from lineage_bridge.sources.common.connect.transforms.transform import Transform


class TopicName(NamedTuple):
    """The name of a topic or, with `is_pattern`, a regular expression for names that depend on the data.

    If the names contain a time, `time` is its format, and `form` is the name with that format in place of the time.
    """

    text: str
    is_pattern: bool = False
    form: str = ""
    time: str = ""

    @property
    def regex(self) -> str:
        """The pattern of topics that a text denotes; for a plain name, a pattern that matches only this name."""
        return self.text if self.is_pattern else re.escape(self.text)


ANY = TopicName(".+", is_pattern=True)
_FORMAT = re.compile(r"\$\{(topic|timestamp)\}")
_REFERENCES = re.compile(r"\(\?<\w+>|\$\{\w+\}")
"""Named groups, in a regular expression and in its replacement."""
_ANY_SIGNS = re.compile(r"(?<=.)\.{3,}|\.{3,}(?=.)")
"""A wildcard of several characters in a regular expression that also contains others."""
_LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")


def is_topic(name: str) -> bool:
    """Whether Kafka allows this name for a topic. A name that it does not allow contains an unresolved variable or a mistake."""
    return bool(_LEGAL.fullmatch(name))


def regex_router(topic: TopicName, transform: Transform) -> list[TopicName]:
    """Replace the first match of a regex in the topic's name, if the regex matches the whole name."""
    return [_replaced(topic, transform.option("regex"), transform.option("replacement"))]


def by_logical_table(topic: TopicName, transform: Transform) -> list[TopicName]:
    """Apply Debezium's ByLogicalTableRouter: route the tables of a sharded database to one topic."""
    return [_replaced(topic, transform.option("topic.regex"), transform.option("topic.replacement"))]


def timestamped(topic: TopicName, transform: Transform) -> list[TopicName]:
    """Add a time to the topic's name."""
    text = transform.option("topic.format", default="${topic}-${timestamp}")
    if TO_FILL_IN.search(_FORMAT.sub("", text)):
        return [ANY]
    raw = transform.option("timestamp.format", default="yyyyMMdd")
    is_open = bool(TO_FILL_IN.search(raw))
    time = ".+" if is_open else re.sub(r"[A-Za-z]+", "[0-9A-Za-z]+", re.sub(r"'([^']*)'", "", raw))
    pieces, end = [], 0
    for reference in _FORMAT.finditer(text):
        pieces += [re.escape(text[end : reference.start()]), topic.regex if reference[1] == "topic" else time]
        end = reference.end()
    format_ = raw.replace("'", "")
    before = "" if is_open else topic.form or ("" if topic.is_pattern else topic.text)
    form = text.replace("${topic}", before).replace("${timestamp}", format_) if before else ""
    return [TopicName("".join([*pieces, re.escape(text[end:])]), is_pattern=True, form=form, time=format_)]


def by_field(topic: TopicName, transform: Transform) -> list[TopicName]:
    """Route records by one of their fields, so the data determines the name. Records without the field may keep the topic's name."""
    keeps = transform.is_on("skip.missing.or.null") or transform.is_on("skip.missing.or.empty")
    return [ANY, topic] if keeps else [ANY]


def by_condition(topic: TopicName, _: Transform) -> list[TopicName]:
    """Route records by a script. It may return any name, or keep the topic's name."""
    return [ANY, topic]


def outbox_topic(_: TopicName, transform: Transform) -> list[TopicName]:
    """Route records by a column of the outbox table, so the data determines the name."""
    text = transform.option("route.topic.replacement", default="outbox.event.${routedByValue}")
    pieces = [".+" if at % 2 else re.escape(piece) for at, piece in enumerate(re.split(r"(\$\{routedByValue\}|\$\d)", text))]
    return [TopicName("".join(pieces), is_pattern="$" in text)] if len(pieces) > 1 else [TopicName(text)]


def change_case(topic: TopicName, transform: Transform) -> list[TopicName]:
    """Convert the name from one case to another; the cases have the names that the library Guava gives them."""
    if topic.is_pattern:
        return [ANY]
    words = re.split(r"[-_]", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", topic.text))
    written = {
        "LOWER_UNDERSCORE": "_".join(words).lower(),
        "UPPER_UNDERSCORE": "_".join(words).upper(),
        "LOWER_HYPHEN": "-".join(words).lower(),
        "UPPER_CAMEL": "".join(word.capitalize() for word in words),
        "LOWER_CAMEL": "".join(word.capitalize() if at else word.lower() for at, word in enumerate(words)),
    }
    name = written.get(transform.option("to"))
    return [ANY if name is None else TopicName(name)]


def _replaced(topic: TopicName, pattern: str, replacement: str) -> TopicName:
    open_ = any(TO_FILL_IN.search(_REFERENCES.sub("", text)) for text in (_ANY_SIGNS.sub("", pattern), replacement))
    if topic.is_pattern or open_ or compile_java(pattern) is None:
        return ANY
    return TopicName(replace_all_of(pattern, replacement, topic.text) or topic.text)

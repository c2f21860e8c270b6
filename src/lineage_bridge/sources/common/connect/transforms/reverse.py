"""Reverses a chain of transforms: finds the topics' names before the chain for a name seen after it."""

import re

from lineage_bridge.sources.common.connect.transforms.chain import TOPIC_STEPS, Chain, replay
from lineage_bridge.sources.common.connect.transforms.patterns import replace_all_of
from lineage_bridge.sources.common.connect.transforms.topics import TopicName, by_logical_table, regex_router

_PIECE = re.compile(r"(?P<group>\((?!\?)[^()]*\))|\\(?P<escaped>[^\w])|(?P<plain>[\w\-.:/ ])")
_WHOLE = re.compile(r"\.[*+]")
_REFERENCE = re.compile(r"\$(\d)|\$\{(\d)\}")


def topics_before(chain: Chain, topic: str) -> list[str]:
    """Return the topic names that the chain turns into this one, as far as regexes are reversible. Each result is checked by replaying
    the chain.
    """
    names = {topic}
    for transform in reversed(chain.transforms):
        step = TOPIC_STEPS.get(transform.kind)
        if step in (regex_router, by_logical_table):
            prefix = "topic." if step is by_logical_table else ""
            regex, replacement = transform.option(f"{prefix}regex"), transform.option(f"{prefix}replacement")
            names |= {before for name in names if (before := _before(regex, replacement, name)) is not None}
    return sorted(name for name in names if TopicName(topic) in replay(chain, name).topics)


def _before(regex: str, replacement: str, name: str) -> str | None:
    """Find the name that a regex replacement turns into this one. It must consist of plain text and groups; None if it cannot be
    determined.
    """
    regex, replacement = (f"({regex})", replacement.replace("$0", "$1")) if _WHOLE.fullmatch(regex) else (regex, replacement)
    groups = _groups(replacement, name)
    pieces, end, number = [], 0, 0
    while end < len(regex):
        piece = _PIECE.match(regex, end)
        if piece is None:
            return None
        if piece["group"] is not None:
            number += 1
            pieces.append(groups.get(number))
        else:
            pieces.append(piece["escaped"] or piece["plain"])
        end = piece.end()
    made = None if None in pieces else "".join(piece for piece in pieces if piece)
    return made if made is not None and replace_all_of(regex, replacement, made) == name else None


def _groups(replacement: str, name: str) -> dict[int, str]:
    """Return the values of a regex's groups, found by their positions in the name after the replacement."""
    pattern, end, seen = "", 0, set()
    for reference in _REFERENCE.finditer(replacement):
        number = reference[1] or reference[2]
        pattern += re.escape(replacement[end : reference.start()])
        pattern += f"(?P=g{number})" if number in seen else f"(?P<g{number}>.+)"
        seen.add(number)
        end = reference.end()
    match = re.fullmatch(pattern + re.escape(replacement[end:]), name)
    return {int(key[1:]): value for key, value in match.groupdict().items()} if match else {}

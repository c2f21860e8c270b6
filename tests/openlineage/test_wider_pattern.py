"""What RE2 is asked first: a pattern that matches in every text in which a rule of masking does."""

import json
import re
from collections.abc import Iterator
from random import Random

import pytest
from tests.openlineage.planted import planted

from lineage_bridge.openlineage.prefilter import rules
from lineage_bridge.openlineage.required_text import fold
from lineage_bridge.openlineage.secret_rules.commands import COMMANDS
from lineage_bridge.openlineage.secret_rules.forms import FORMS
from lineage_bridge.openlineage.secret_rules.prose import PROSE, SENTENCES
from lineage_bridge.openlineage.wider_pattern import wider_pattern

PATTERNS = (*FORMS, *COMMANDS, *PROSE, *SENTENCES)


def texts_of(value: object) -> Iterator[str]:
    """The texts in a JSON value, also those of JSON in them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts_of(member)


def test_where_a_rule_matches_its_wider_pattern_does() -> None:
    planted_texts = {text for seed in range(2) for _, _, facet in planted(Random(seed)) for text in texts_of(json.loads(json.dumps(facet)))}
    odd = {text.replace("s", "\u017f").replace("i", "\u0130").replace(" ", "\u2003").replace("1", "\u0661") for text in planted_texts}
    texts = [(text, fold(text).encode()) for text in planted_texts | odd | {text.upper() for text in planted_texts}]
    matched = 0
    for rule in rules(PATTERNS):
        wider = wider_pattern(rule.pattern)
        for text, folded in texts:
            if rule.pattern.search(text):
                matched += 1
                assert wider.search(folded), (rule.pattern.pattern, text)
    assert matched > 300


@pytest.mark.parametrize(
    ("pattern", "text", "other"),
    [
        (r"(?<!x)a[^\WB]{3,9}\b(?=\d)", "xaÉé\u0660", "a--"),
        (r"(?P<quote>['\"])x(?P=quote)", "'x\"", "'y'"),
        (r"(?i:K)[^A-Z]\S", "\u212ab\x1c", "k"),
        (r"a{2,300}?(?:b|c)+\Z", "aab and more", "ab"),
        (r"[\d\s]\D\W", "\u0665\u2003é", "xx"),
        (r"x(a)?(?(1)b|c)y", "xcy", "xa"),
    ],
)
def test_conditions_are_left_out_and_letters_of_any_case_are_equal(pattern: str, text: str, other: str) -> None:
    wider = wider_pattern(re.compile(pattern))
    assert wider.search(fold(text).encode())
    assert not wider.search(fold(other).encode())


def test_what_matches_an_empty_text_is_of_no_use() -> None:
    assert wider_pattern(re.compile(r"(?=a)b*")) is None


def test_a_pattern_that_re2_refuses_has_no_wider_one() -> None:
    """Were it empty, it would match everywhere, and RE2 would read each long text in vain."""

    def nested(levels: int) -> "re.Pattern[str]":
        return re.compile("(?:" * levels + "[^a-z]" + "){4}" * levels)

    assert wider_pattern(nested(4)) is not None
    assert wider_pattern(nested(6)) is None, "RE2 copies what is repeated up to a thousand times"

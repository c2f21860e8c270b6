"""Rules are tried only where they can match, and so replace what they would replace if they were tried everywhere."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.openlineage.test_redaction import SHAPES, planted

from lineage_bridge.openlineage import prefilter
from lineage_bridge.openlineage.prefilter import Prefilter, rules
from lineage_bridge.openlineage.required_text import first_texts, fold, required_texts
from lineage_bridge.openlineage.secret_rules.forms import FORMS
from lineage_bridge.openlineage.secret_rules.names import SECRET_WORDS, names_secret
from lineage_bridge.openlineage.secret_rules.prose import PROSE

RULES = rules([*FORMS, *PROSE])
FILTER = Prefilter({"all": RULES})
FORMS_OF_TOKENS = [re.compile(r"ghp_(?P<secret>\w{36})"), re.compile(r"(?:pat|token) (?P<secret>\w+)")]
LONG = " plain words" * 40
PLANTED = [planted(shape, "hunter2Zx9").decode() for shape in SHAPES.values()]
WORDS = """Password: passWord 'pw1x2' identified by replace SET = mysql -px1 redis-cli -a x curl --cookie s=1 | kinit echo -u u:p1
    user:pw1@host/x
    https://a1b2c3d4e5f6@h api-key store Fernet('k1') auth=( , ) machine login @ \u017fecret pa\u017f\u017fword: \u0130 \u00e9"""
PIECES = [*PLANTED, *WORDS.split(), "\n", "\t"]
NAMES = st.lists(
    st.sampled_from(["api", "Key", "pass", "word", "Phrase", "token", "auth", "user", "Info", "db", "jaas", "Config", "_", ".", "-", "1"]),
    min_size=1,
    max_size=6,
).map("".join)


def marked(found: "re.Match[str]") -> str:
    return "|" * len(found[0])


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8), st.sampled_from([" ", "", "\n"]))
@settings(max_examples=50)
def test_a_rule_replaces_what_its_pattern_does(pieces: list[str], between: str) -> None:
    text = between.join([LONG, *pieces, LONG])
    chosen = FILTER.worth_trying(text)["all"]
    for rule in RULES:
        expected = rule.pattern.sub(marked, text)
        assert rule.sub(marked, text) == expected
        assert rule in chosen or expected == text


def test_a_rule_that_can_begin_everywhere_replaces_what_its_pattern_does() -> None:
    text = "'" * 70_000 + " 'hunter2x' AS password, " + "password " * 9_000 + "Passwort: hunter2x"
    for rule in RULES:
        assert rule.sub(marked, text) == rule.pattern.sub(marked, text)


def test_a_text_without_what_a_rule_requires_is_not_tried() -> None:
    chosen = Prefilter({"forms": rules(FORMS), "prose": rules(PROSE)}).worth_trying("select a, total_98 from orders")
    assert not [*chosen["forms"], *chosen["prose"]]


def test_what_long_texts_need_is_computed_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = rules(FORMS_OF_TOKENS)
    Prefilter({"all": prepared}).prepare()
    monkeypatch.setattr(prefilter, "wider_pattern", None)
    monkeypatch.setattr(prefilter, "first_texts", None)
    assert {rule.sub(marked, LONG * 10) for rule in prepared} == {LONG * 10}
    with pytest.raises(TypeError):
        rules(FORMS_OF_TOKENS)[0].sub(marked, LONG * 10)


def test_which_rules_are_tried_depends_on_words_and_on_single_characters() -> None:
    chosen = Prefilter(
        {"a": rules([re.compile(r"token\W*=\d"), re.compile(r"[@#]x")]), "b": rules([re.compile(r"token\s")], frozenset(("secret",)))}
    )
    tried = {
        text: [rule.pattern.pattern for group in chosen.worth_trying(text).values() for rule in group]
        for text in ("a token", "TOKEN =1", "=1", "#x", "token #x =", "token secret")
    }
    first, second, third = r"token\W*=\d", "[@#]x", r"token\s"
    assert tried == {
        "a token": [],
        "TOKEN =1": [first],
        "=1": [],
        "#x": [second],
        "token #x =": [first, second],
        "token secret": [third],
    }
    assert chosen.worth_trying("a token") is chosen.no_rules


@pytest.mark.parametrize(
    ("pattern", "required", "first"),
    [
        (r"\b(?i:bearer\s+)\S+", ["bearer"], ["bearer"]),
        (r"(?:curl|lftp)\b.{0,9}-[ub]", ["curl", "lftp"], ["curl", "lftp"]),
        (r"gh[ps]_[A-Z]{9}|xpat-\w+", ["ghp_", "ghs_", "xpat-"], ["ghp_", "ghs_", "xpat-"]),
        (r"gh[ps]_[A-Z]{9}|\w+xpat-", ["ghp_", "ghs_", "xpat-"], None),
        (r"\w{3}\.atlasv1\.", [".atlasv1."], None),
        (r"a?b", ["b"], ["ab", "b"]),
        (r"(?:ab|)c+", ["c"], ["abc", "c"]),
        (r"x*", [], None),
        (r"(?:ab|\d)", [], None),
        (r"(?<=user=)\S", ["user="], None),
        (r"secrets?", ["secret"], ["secret"]),
    ],
)
def test_the_texts_that_a_pattern_requires(pattern: str, required: list[str], first: list[str] | None) -> None:
    found = required_texts(re.compile(pattern))
    assert sorted(found[0] if found else []) == required
    texts = first_texts(re.compile(pattern))
    assert (texts and sorted(texts)) == first


@given(NAMES)
def test_names_of_secrets_contain_a_secret_word(name: str) -> None:
    assert not names_secret(name) or any(word in name.lower() for word in SECRET_WORDS)


@given(st.text())
def test_folding_keeps_places(text: str) -> None:
    assert len(fold(text)) == len(text)

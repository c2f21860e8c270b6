"""Bodies with tokens of any known form are suspicious, wherever the tokens begin."""

import json
from random import Random

import pytest
from tests.openlineage.suspicion.regex_samples import samples

from lineage_bridge.openlineage.secret_rules.tokens import HASHES, SECOND_PARTS, TOKENS
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.openlineage.suspicion.search import is_suspicious, suspicious_offsets

BEFORE = ("", "a\n", "a\t", "a\b", "a\\n", "a \u2192", "<", "_")


@pytest.mark.parametrize("form", [*TOKENS, SECOND_PARTS[0], *HASHES], ids=lambda form: form[:20])
def test_tokens_of_every_form_are_suspicious_and_masked(form: str) -> None:
    random = Random(form)
    for token in samples(form, random, 4):
        for before in BEFORE[: -1 if form in HASHES else None]:
            raw = json.dumps({"x": f"{before}{token} y"}).encode()
            assert is_suspicious(raw), token
            assert bool(suspicious_offsets(raw)), token
        assert token not in mask_text(f"a {token} y")

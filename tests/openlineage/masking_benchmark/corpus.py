"""The benchmark's events: each template in each place that carries its shape of text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.openlineage.masking_benchmark.carriers import CARRIERS, Event, carry
from tests.openlineage.masking_benchmark.material import fill_words
from tests.openlineage.masking_benchmark.templates import Template, read_templates

_HERE = Path(__file__).parent
INNOCENT_FILLINGS = 7
"""How often each innocent template is filled."""


@dataclass(frozen=True)
class Planted:
    """Secrets in one event, and what must stay beside them: parts of one text, in order, and the name of a setting."""

    kind: str
    carrier: str
    text: str
    event: Event
    secrets: tuple[str, ...]
    kept: tuple[str, ...]
    setting: str


@dataclass(frozen=True)
class Innocent:
    """A text without a secret, which must stay as it is."""

    carrier: str
    text: str
    event: Event


def planted() -> Iterator[Planted]:
    """Every template of a secret in every carrier of its shape, each with secrets of its own."""
    for template in read_templates(_HERE / "planted"):
        for carrier in CARRIERS[template.shape]:
            text = template.fill(carrier)
            event = carry(carrier, template.shape, text.value, template.setting)
            yield Planted(template.kind, carrier, text.value, event, text.secrets, text.kept, template.setting)


def innocents() -> Iterator[Innocent]:
    """Innocent texts, each once; the fillings of one template are in different carriers."""
    seen: set[str] = set()
    for number, template in enumerate(read_templates(_HERE / "innocent")):
        for filling in range(INNOCENT_FILLINGS):
            text = _innocent_text(template, str(filling))
            if f"{template.setting}={text}" not in seen:
                seen.add(f"{template.setting}={text}")
                carriers = CARRIERS[template.shape]
                carrier = carriers[(number + filling) % len(carriers)]
                yield Innocent(carrier, text, carry(carrier, template.shape, text, template.setting))


def _innocent_text(template: Template, seed: str) -> str:
    worded = Template(template.kind, template.shape, fill_words(template.line, seed))
    return worded.fill(seed).value

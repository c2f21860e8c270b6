"""Sets that were written later: each template of a secret in one of its carriers, each innocent template filled a few times."""

from collections.abc import Iterator
from pathlib import Path

from tests.openlineage.masking_benchmark.corpus import Innocent, Planted
from tests.openlineage.masking_benchmark.material import fill_words
from tests.openlineage.masking_benchmark.more_carriers import SECOND_CARRIERS, carry_further
from tests.openlineage.masking_benchmark.templates import Template, read_templates

_FILLINGS = 3


def planted_in(folder: Path, carriers: int = 1) -> Iterator[Planted]:
    """Every template of a secret in so many of the carriers of its shape, in turn."""
    for number, template in enumerate(read_templates(folder / "planted")):
        places = SECOND_CARRIERS[template.shape]
        for turn in range(min(carriers, len(places))):
            carrier = places[(number + turn) % len(places)]
            text = template.fill(carrier)
            event = carry_further(carrier, template.shape, text.value, template.setting)
            yield Planted(template.kind, carrier, text.value, event, text.secrets, text.kept, template.setting)


def innocents_in(folder: Path) -> Iterator[Innocent]:
    """Innocent texts, each once; the fillings of one template are in different carriers."""
    seen: set[tuple[str, str]] = set()
    for number, template in enumerate(read_templates(folder / "innocent")):
        places = SECOND_CARRIERS[template.shape]
        for filling in range(_FILLINGS):
            text = Template(template.kind, template.shape, fill_words(template.line, str(filling))).fill(str(filling)).value
            if (template.setting, text) not in seen:
                seen.add((template.setting, text))
                carrier = places[(number + filling) % len(places)]
                yield Innocent(carrier, text, carry_further(carrier, template.shape, text, template.setting))

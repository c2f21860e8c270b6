r"""The templates of secrets: one file per field, one section per kind, one template per line.

`[[hx:32]]` is a secret (`material`), `((AKIA[[b32:16]]))` is text that may be masked with it, all other text must stay. `\n` is a
line break, `\\` a backslash. The first letter is the template's shape:

| T | Q | S | C | P | U | A | J |
|---|---|---|---|---|---|---|---|
| prose and logs | SQL | commands and programs | a configuration file | a setting and its value | an address | a list of arguments | JSON |
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from tests.openlineage.masking_benchmark.material import make

Shape = Literal["T", "Q", "S", "C", "P", "U", "A", "J"]

_MARKER = re.compile(r"\[\[([\w:]+)\]\]")
_OPTIONAL = re.compile(r"\(\((.*?)\)\)", re.DOTALL)
_ESCAPE = re.compile(r"\\([nt\\])")
_UNESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


@dataclass(frozen=True)
class Text:
    """A filled template: what it is planted as, the secrets in it, and the parts that must stay, in order."""

    value: str
    secrets: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    kind: str
    shape: Shape
    line: str

    @property
    def setting(self) -> str:
        """The name of the setting, of the shape `P`."""
        return self.line.partition(" :: ")[0] if self.shape == "P" else ""

    def fill(self, seed: str) -> Text:
        """`seed` tells the fillings of one template apart. Of the shape `P`, it is the setting's value."""
        text = self.line.partition(" :: ")[2] if self.shape == "P" else self.line
        pieces = _OPTIONAL.split(_ESCAPE.sub(lambda found: _UNESCAPED[found[1]], text))
        value, secrets, kept = "", [], [""]
        for number, piece in enumerate(pieces):
            for index, part in enumerate(_MARKER.split(piece)):
                filled = make(part, f"{self.kind}/{self.line}/{seed}/{number}/{index}") if index % 2 else part
                value += filled
                if number % 2 or index % 2:
                    kept.append("")
                else:
                    kept[-1] += part
                if index % 2 and not number % 2:
                    secrets.append(filled)
        return Text(value, tuple(secrets), tuple(_trimmed(kept)))


def _trimmed(kept: list[str]) -> list[str]:
    """Without the punctuation beside a secret, which may be masked with it."""
    return [text for text in (re.sub(r"^[\W_]+|[\W_]+$", "", text) for text in kept) if text]


def read_templates(folder: Path) -> list[Template]:
    """All templates of a folder, in the order of files and lines."""
    templates = []
    for path in sorted(folder.glob("*.txt")):
        kind = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                kind = line[3:]
            elif line:
                templates.append(Template(kind, cast("Shape", line[0]), line[2:]))
    return templates

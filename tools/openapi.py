"""Writes the OpenAPI description that the web page's client is generated from: `python -m tools.openapi`."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from lineage_bridge.config import Settings
from lineage_bridge.wiring.api import api

PATH = Path(__file__).resolve().parent.parent / "web" / "src" / "api" / "openapi.json"


def text_of(document: dict[str, Any]) -> str:
    """A description as text: the same for the same calls, whatever version answers them."""
    info = {key: value for key, value in document["info"].items() if key != "version"}
    return json.dumps({**document, "info": {**info, "version": ""}}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Returns 0."""
    with tempfile.TemporaryDirectory() as folder, api(Settings(data_dir=Path(folder))) as app:
        PATH.write_text(text_of(app.openapi()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

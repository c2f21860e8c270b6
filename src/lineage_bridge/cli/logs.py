"""What long-running commands log, on standard error."""

import logging
import sys

from lineage_bridge.config import Settings

_FORMAT = "%(asctime)s %(levelname)-7s {part}: %(message)s"
_QUIET = {"alembic": logging.WARNING, "httpx": logging.WARNING, "pyspark": logging.ERROR, "uvicorn": logging.WARNING}


def tell_logs(settings: Settings, part: str) -> None:
    """Write what this process logs to standard error, each line naming the part."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_is_worth_telling)
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), format=_FORMAT.format(part=part))
    for name, level in sorted(_QUIET.items()):
        logging.getLogger(name).setLevel(level)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Not what Spark's bridge says of connections, under its own name or none: the pipeline says itself when Spark is gone."""
    return "py4j" not in record.pathname

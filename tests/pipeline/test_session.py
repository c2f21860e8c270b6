"""Spark starts on machines as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

NAMED = ["unshare", "--user", "--map-root-user", "--uts", "sh", "-c", 'hostname a-name-without-address && exec "$@"', "sh"]
START = """
import sys
from pathlib import Path
from lineage_bridge.pipeline.session import start_session

print(start_session(Path(sys.argv[1]), master="local[1]", memory="512m").range(3).count())
"""


def can_be_renamed() -> bool:
    """Whether this machine lets a process have a name of its own for it."""
    try:
        return subprocess.run([*NAMED, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not can_be_renamed(), reason="this machine gives processes no host name of their own")
def test_spark_starts_where_the_machine_s_name_has_no_address(tmp_path: Path) -> None:
    done = subprocess.run([*NAMED, sys.executable, "-c", START, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr

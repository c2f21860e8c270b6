import subprocess
import sys


def test_a_process_that_ends_while_it_prepares_masking_ends_in_order():
    prepares = "from lineage_bridge.ingest.masking import prepare_masking_beside; prepare_masking_beside()"
    ended = subprocess.run([sys.executable, "-c", prepares], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")

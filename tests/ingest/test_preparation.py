import subprocess
import sys


def test_a_process_that_ends_while_it_prepares_masking_ends_in_order():
    prepares = "from lineage_bridge.ingest.masking import prepare_masking_beside; prepare_masking_beside()"
    ended = subprocess.run([sys.executable, "-c", prepares], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_takes_long_to_load_is_loaded_by_the_preparation_alone() -> None:
    """Many processes load masking and mask nothing; the first body of those that do costs no more than later ones."""
    prepares = (
        "import sys; from lineage_bridge.ingest.masking import prepare_masking; before = 'numpy' in sys.modules;"
        " prepare_masking(); print(before, 'numpy' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", prepares], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True"]

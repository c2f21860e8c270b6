"""A data folder with a damaged file: nothing acknowledged is missing untold, nothing says healthy that does not answer, intake goes on."""

import random
import shutil
from pathlib import Path

import pytest
from tests.crash.damage import loaded, run_round

ROUNDS = 24


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("sound")
    return folder, loaded(folder)


@pytest.mark.parametrize("seed", range(1, ROUNDS + 1))
def test_damage_is_told_and_intake_goes_on(sound: tuple[Path, list[str]], tmp_path: Path, seed: int) -> None:
    """More of them: `python -m tests.crash.damage 200`."""
    folder, acknowledged = sound
    shutil.copytree(folder, tmp_path / "data")
    done = run_round(tmp_path / "data", acknowledged, random.Random(seed))
    assert done.faults == [], str(done)

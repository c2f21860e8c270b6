"""A data folder with a damaged file: nothing acknowledged is missing untold, nothing says healthy that does not answer, intake goes on."""

import random
import shutil
from pathlib import Path

import pytest
from tests.crash.damage import client_of, event, fold, loaded, run_round, settings_of

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


def test_nothing_is_acknowledged_once_the_data_folder_is_gone(sound: tuple[Path, list[str]], tmp_path: Path) -> None:
    shutil.copytree(sound[0], tmp_path / "data")
    with client_of(settings_of(tmp_path / "data")) as client:
        assert client.post("/api/v1/lineage", content=event(1)).status_code == 201
        shutil.rmtree(tmp_path / "data")
        answer = client.post("/api/v1/lineage", content=event(2))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "log_failed")
        ready = client.get("/api/v1/ready")
        assert (ready.status_code, ready.json()["parts"]["intake"]["state"]) == (503, "failed")
        assert ready.json()["parts"]["store"]["state"] == "missing"
        for path in ("/metrics", "/api/v1/inputs", "/api/v1/sources", "/api/v1/targets", "/api/v1/tasks"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_failed"), path


def test_a_graph_that_a_question_found_damaged_is_not_said_to_answer(sound: tuple[Path, list[str]], tmp_path: Path) -> None:
    shutil.copytree(sound[0], tmp_path / "data")
    settings = settings_of(tmp_path / "data")
    settings.paths.graph_suspect.touch()
    with client_of(settings) as client:
        ready = client.get("/api/v1/ready")
        assert (ready.status_code, ready.json()["parts"]["store"]["state"]) == (503, "failed")
        fold(settings)
        assert client.get("/api/v1/ready").json()["parts"]["store"]["state"] == "ok"

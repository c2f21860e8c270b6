"""Files are read by real processes that are killed: every record is in the log once."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.crash.running.support import SOON_S, Asking, Process, nothing_left, settings_in, until
from tests.crash.test_inputs import numbers_in_log, reading
from tests.events import run_event

from lineage_bridge.config import Settings


def lines(first: int, last: int) -> bytes:
    return b"".join(run_event(job=f"job-{number}", number=number) + b"\n" for number in range(first, last))


def add_input(settings: Settings, **order: Any) -> None:
    own = {"folder": str(settings.data_dir.parent / "events"), "poll_s": 0.1, "refresh_s": 0.1, "batch_records": 20, **order}
    answer = httpx.post(f"{settings.address}/api/v1/inputs", json={"name": "events", "kind": "folder", "settings": own}, trust_env=False)
    assert answer.status_code == 201, answer.text


def prepared(tmp_path: Path) -> tuple[Settings, Path]:
    folder, data = tmp_path / "events", tmp_path / "data"
    folder.mkdir()
    data.mkdir()
    settings = settings_in(data).model_copy(update={"input_folders": str(tmp_path)})
    return settings, folder


@pytest.mark.parametrize("point", ["part", "synced"])
def test_the_api_is_killed_in_the_middle_of_a_file(tmp_path: Path, point: str) -> None:
    settings, folder = prepared(tmp_path)
    with nothing_left(tmp_path), Asking(settings) as asking:
        api = Process("api", settings)
        until(asking.answers, SOON_S, "the API")
        with reading(settings):
            add_input(settings)
            (folder / "a.ndjson").write_bytes(lines(0, 30))
            until(lambda: len(numbers_in_log(settings)) == 30, SOON_S, "the first events")
            api.request(point)
            with (folder / "a.ndjson").open("ab") as file:
                file.write(lines(30, 100))
            for number in range(100, 130):
                (folder / f"one-{number}.json").write_bytes(lines(number, number + 1))
            api.wait_for_point(point)
            api.kill()
            again = Process("api", settings)
            until(lambda: len(numbers_in_log(settings)) >= 130, SOON_S, "all events")
            (folder / "a.ndjson").rename(folder / "a.ndjson.1")
            (folder / "a.ndjson").write_bytes(lines(130, 140))
            until(lambda: len(numbers_in_log(settings)) >= 140, SOON_S, "the last events")
        assert numbers_in_log(settings) == list(range(140))
        item = httpx.get(f"{settings.address}/api/v1/inputs/events", trust_env=False).json()
        assert (item["accepted"], item["rejected"]) == (140, {})
        again.stop()


def test_the_reader_is_killed_again_and_again(tmp_path: Path) -> None:
    settings, folder = prepared(tmp_path)
    with nothing_left(tmp_path), Asking(settings) as asking:
        api = Process("api", settings)
        until(asking.answers, SOON_S, "the API")
        (folder / "a.ndjson").write_bytes(lines(0, 300))
        for number in range(300, 400):
            (folder / f"one-{number}.json").write_bytes(lines(number, number + 1))
        add_input(settings)
        for least in (50, 150, 320, 400):
            with reading(settings):
                until(lambda least=least: len(numbers_in_log(settings)) >= least, SOON_S, f"{least} events")  # type: ignore[misc]  # one each
        assert numbers_in_log(settings) == list(range(400))
        api.stop()

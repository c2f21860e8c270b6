"""`make producers` says what it lacks, what failed and what differs."""

import logging
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.producers import __main__ as producers
from tests.producers.environments import ProducerError, environment, run


def test_an_unknown_producer_is_refused_with_the_known_ones(caplog: pytest.LogCaptureFixture) -> None:
    assert producers.main(["dbt", "sqlmesh"]) == 2
    assert "unknown producer 'sqlmesh'; choose from: python, dbt-duckdb" in caplog.text


def test_a_name_chooses_all_trials_of_a_producer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert producers.main(["dbt", "--record"], lambda producer, *, keep: "" if producer == "dbt-logs" else f"{keep} -flow") == 1
    assert "dbt-duckdb: the graph differs from expected/dbt-duckdb.yaml\nTrue -flow" in caplog.text
    assert "1 of 3 producers as expected; not: dbt-duckdb, dbt-postgres" in caplog.text


def test_a_server_that_does_not_start_fails_one_trial_and_the_others_run(caplog: pytest.LogCaptureFixture) -> None:
    errors = {
        "python": TimeoutError("not ready"),
        "dbt-duckdb": httpx.ConnectError("refused"),
        "dbt-logs": subprocess.TimeoutExpired("api", 60),
    }

    def attempting(producer: str, *, keep: bool) -> str:
        if error := errors.get(producer):
            raise error
        return "" if not keep else "recorded"

    caplog.set_level(logging.INFO)
    assert producers.main(["python", "dbt"], attempting) == 1
    assert "1 of 4 producers as expected; not: python, dbt-duckdb, dbt-logs" in caplog.text


def test_a_program_that_fails_is_shown_with_the_end_of_its_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('no such table'); sys.exit(3)"]
    with pytest.raises(ProducerError, match=r"(?s)ended with 3:\nno such table"):
        run(command, tmp_path, {})
    assert run(command, tmp_path, {}, codes=(3,)).stdout == "no such table\n"


def test_what_pip_cannot_install_leaves_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "producers-broken.txt").write_text("a requirement without a version\n")
    for _ in range(2):
        with pytest.raises(ProducerError, match=r"broken cannot be installed from requirements/producers-broken\.txt; pip says why above"):
            environment("broken", tmp_path)
    assert "ERROR" in capfd.readouterr().err
    assert list((tmp_path / "cache").rglob("installed")) == []

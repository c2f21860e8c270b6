"""Tests that share a server run in one worker, so that it is started once a run."""

import pytest
from tests import distribution


@pytest.mark.usefixtures("registry")
def test_the_worker_that_runs_a_test_was_given_its_group(request: pytest.FixtureRequest) -> None:
    assert distribution.GROUPS["registry"] in [mark.args[0] for mark in request.node.iter_markers("xdist_group")]
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith(f"@{distribution.GROUPS['registry']}"), "xdist has not read the mark"
    else:
        assert "@" not in request.node.nodeid, "a run without workers has no groups"

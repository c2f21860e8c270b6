"""Failures with the same cause are printed once."""

from lineage_bridge.cli.causes import format_scopes, group_by_cause


def test_causes_that_differ_in_ids_are_one():
    failures = [
        ("connect env-1/lkc-1", "GET /environments/env-1/clusters/lkc-1/connectors returned 403"),
        ("topics env-1/lkc-1", "timed out"),
        ("connect env-1/lkc-2", "GET /environments/env-1/clusters/lkc-2/connectors returned 403"),
    ]
    assert group_by_cause(failures) == [
        ("GET /environments/*/clusters/*/connectors returned 403", ["connect env-1/lkc-1", "connect env-1/lkc-2"]),
        ("timed out", ["topics env-1/lkc-1"]),
    ]


def test_a_single_failure_keeps_its_ids():
    assert group_by_cause([("connect env-1/lkc-1", "lkc-1 is gone")]) == [("lkc-1 is gone", ["connect env-1/lkc-1"])]


def test_a_cause_that_lists_several_is_shortened():
    failures = [
        ("topics env-1/lkc-1", "timed out"),
        ("topics env-1/lkc-2", "timed out"),
        ("metrics organization", "ids of lkc-1: returned 500; ids of lkc-2: returned 500; see the log"),
        ("registry env-1/lsrc-1", "no such topics; set `strategies`"),
    ]
    assert group_by_cause(failures)[1:] == [
        ("ids of *: returned 500; see the log", ["metrics organization"]),
        ("no such topics; set `strategies`", ["registry env-1/lsrc-1"]),
    ]


def test_scopes_of_one_kind_are_joined():
    assert format_scopes(["connect env-1/lkc-1", "metrics organization", "connect env-1/lkc-2"]) == (
        "connect env-1/lkc-1, env-1/lkc-2; metrics organization"
    )
    assert format_scopes(["list connectors", "reach"]) == "list connectors; reach"

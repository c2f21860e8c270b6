"""Publications that run at once over all targets, and how callers share them."""

from tests.api.support import Server

PUBLISH = "/api/v1/targets/{}/publish"


def test_four_publications_run_at_once_and_no_caller_has_them_all(server: Server) -> None:
    for number in range(7):
        server.targets.add(f"t{number}", "files", {"file": f"t{number}.ndjson"}, replace=False)
    server.publishing.stays = True
    greedy, modest, third = (server.key(name, "operate") for name in ("greedy", "modest", "third"))
    with server.asking_for_keys() as client:

        def begin(number: int, caller: dict[str, str]) -> int:
            answer = client.post(PUBLISH.format(f"t{number}"), json={"plan_only": True}, headers=caller)
            status: int = answer.status_code
            if status == 503:
                assert (answer.json()["error"]["code"], answer.headers["retry-after"]) == ("too_many_publications", "5")
            return status

        assert [begin(number, greedy) for number in range(3)] == [202, 202, 503]
        assert [begin(3, modest), begin(4, modest)] == [202, 503]
        assert [begin(4, third), begin(5, server.key("fourth", "operate"))] == [202, 503]
        server.publishing.under_way -= {"t0", "t1"}
        assert [begin(5, greedy), begin(6, greedy)] == [202, 503]


def test_programs_of_this_machine_share_with_nobody(server: Server) -> None:
    for number in range(5):
        server.targets.add(f"t{number}", "files", {"file": f"t{number}.ndjson"}, replace=False)
    server.publishing.stays = True
    answers = [server.client.post(PUBLISH.format(f"t{number}"), json={"plan_only": True}).status_code for number in range(5)]
    assert answers == [202] * 4 + [503]


def test_what_is_not_under_way_cannot_be_cancelled(server: Server) -> None:
    server.targets.add("t", "files", {"file": "t.ndjson"}, replace=False)
    assert server.client.post("/api/v1/targets/none/cancel").status_code == 404
    assert server.client.post("/api/v1/targets/t/cancel").status_code == 422


def test_an_unknown_target_is_unknown_however_many_publications_run(server: Server) -> None:
    for number in range(4):
        server.targets.add(f"t{number}", "files", {"file": f"t{number}.ndjson"}, replace=False)
    server.publishing.stays = True
    for number in range(4):
        assert server.client.post(PUBLISH.format(f"t{number}"), json={"plan_only": True}).status_code == 202
    assert server.client.post(PUBLISH.format("none"), json={"plan_only": True}).status_code == 404

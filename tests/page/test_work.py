"""The lists of what a server is made of, in a browser."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import LATE, Shown
from tests.page.test_page import DBT, LISTS, open_view, violations


def sign_in(page: Page, shown: Shown, view: str) -> None:
    """Open a view of the server that asks for keys, as somebody who may read."""
    page.goto(shown.guarded_url + view)
    page.get_by_label("API key").fill(shown.key)
    page.get_by_role("button", name="Enter").click()


@pytest.mark.parametrize("width", [1440, 390])
def test_every_list_is_found_in_the_navigation_with_keys_alone(page: Page, shown: Shown, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_view(page, shown.url)
    seen = []
    for section in ("Inventory", "Activity", "Connections", "Access"):
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=section).press("Enter")
        links = page.get_by_role("navigation", name=section, exact=True).get_by_role("link")
        expect(links.first).to_have_attribute("aria-current", "page")
        for link in links.all():
            link.press("Enter")
            expect(link).to_have_attribute("aria-current", "page")
            expect(page.locator(".loading")).to_have_count(0)
            expect(page.locator("main tbody tr, main .empty").first).to_be_visible()
            seen.append(page.url.rsplit("/", 1)[1])
    assert sorted(seen) == sorted(LISTS)


def test_a_list_is_narrowed_and_its_address_says_so(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/datasets")
    page.get_by_label("Name", exact=True).fill("order-events*")
    page.get_by_role("button", name="Narrow").click()
    names = page.locator("tbody th .full-name > .name")
    expect(names).to_have_text(["order-events-enriched"])
    page.reload()
    expect(names).to_have_text(["order-events-enriched"])
    names.first.click()
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.go_back()
    page.get_by_label("Name", exact=True).fill("nothing at all")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Nothing matches")
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("")


def test_a_list_goes_on_page_by_page(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/events")
    first = page.locator("tbody tr")
    expect(first).to_have_count(50)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Next").click()
    expect(page.get_by_text("51 to 100")).to_be_visible()
    assert page.url.endswith("view/events?offset=50")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Previous").click()
    expect(page.get_by_text("1 to 50", exact=True)).to_be_visible()


def test_a_run_is_shown_in_its_time_with_the_runs_inside_of_it(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/runs?{urlencode(DBT)}")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.locator(".gantt i")).to_have_count(3)
    boxes = rows.locator(".gantt i").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().toJSON())")
    outer, *inner = boxes
    assert all(outer["left"] <= bar["left"] and bar["right"] <= outer["right"] + 1 for bar in inner)
    rows.nth(1).locator("a").first.click()
    expect(page.locator(".facts")).to_contain_text("Inside of")
    page.get_by_role("link", name="Events", exact=True).last.click()
    expect(page.locator("tbody tr")).not_to_have_count(0)
    page.locator("tbody button", has_text="Show").first.click()
    expect(page.locator("tr.below pre")).to_contain_text('"eventTime"')


def test_a_rejected_event_is_shown_harmlessly_and_judged_again(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/quarantine?code=no_time")
    expect(page.locator("tbody .full-name > .name")).to_have_text(LATE)
    page.locator("tbody button", has_text="Show").click()
    expect(page.locator("tr.below pre")).to_contain_text(LATE)
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("alert")).to_contain_text("EventTime is missing")


def test_what_a_key_may_not_is_said_with_the_scope_that_is_missing(page: Page, shown: Shown) -> None:
    sign_in(page, shown, "view/keys")
    expect(page.get_by_role("alert")).to_contain_text("lacks the scope 'admin'")
    page.get_by_role("link", name="Activity").click()
    page.get_by_role("link", name="Quarantine").click()
    page.locator("tbody button", has_text="Show").click()
    expect(page.locator("tr.below")).to_contain_text("Replaying an event needs the scope operate.")
    expect(page.get_by_role("button", name="Replay")).to_have_count(0)


def test_a_target_is_planned_and_published_to_by_whom_may(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/targets?open=catalog")
    expect(page.get_by_text("Nothing was published to it")).to_be_visible()
    expect(page.get_by_role("region", name="Operations").locator("tbody tr").first).to_contain_text("planned")
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("dialog", name="Publish").get_by_role("button", name="Publish").click()
    expect(page.get_by_role("region", name="What was published").locator("tbody tr")).not_to_have_count(0)
    expect(page.get_by_text(re.compile("a publication, began"))).to_be_visible()


def test_a_source_is_paused_and_resumed(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/sources")
    page.get_by_role("link", name="broker").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("main .state", has_text="paused")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_source_is_added_from_the_page_and_what_is_wrong_is_said_at_its_field(page: Page, shown: Shown) -> None:
    """With keys alone."""
    open_view(page, shown.url + "view/sources")
    page.get_by_role("button", name="Add a source").press("Enter")
    dialog = page.get_by_role("dialog", name="Add a source")
    dialog.get_by_label("Kind").select_option("connect")
    page.keyboard.press("Tab")
    page.keyboard.type("workers")
    page.keyboard.press("Enter")
    url = dialog.get_by_label("url (required)")
    expect(url).to_be_focused()
    expect(url).to_have_accessible_description(re.compile("It is missing"))
    page.keyboard.type("nowhere")
    dialog.get_by_text("Other settings").press("Enter")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    dialog.get_by_label("password").fill("hunter2")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("password")).to_be_focused()
    expect(dialog.get_by_label("password")).to_have_accessible_description(re.compile("never as itself"))
    page.keyboard.press("Control+a")
    page.keyboard.type("${env:CONNECT_PASSWORD}")
    page.keyboard.press("Enter")
    expect(url).to_be_focused()
    expect(url).to_have_accessible_description(re.compile("must begin with http"))
    page.keyboard.press("Control+a")
    page.keyboard.type("http://127.0.0.1:9")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Source workers")
    expect(page.locator(".facts").last).to_contain_text("${env:CONNECT_PASSWORD}")
    assert [body for body in sent if "CONNECT_PASSWORD" in body], "what the page sends is seen"
    assert [body for body in sent if "hunter2" in body] == []
    page.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog", name="Remove").get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_role("link", name="broker")).to_be_visible()
    expect(page.get_by_role("link", name="workers")).to_have_count(0)


def test_topics_of_an_input_are_given_on_lines(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/inputs")
    page.get_by_role("button", name="Add an input").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option("kafka")
    dialog.get_by_label("Name (required)").fill("topics")
    dialog.get_by_label("bootstrap_servers (required)").fill("127.0.0.1:9")
    dialog.get_by_label("topics (required)").fill("lineage\n42")
    dialog.get_by_role("button", name="Add an input").click()
    expect(page.locator(".facts").last).to_contain_text('["lineage","42"]')
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove").get_by_role("button", name="Remove").click()


@pytest.mark.parametrize(("view", "kind", "given"), [("input", "folder", "folder"), ("target", "marquez", "url")])
def test_inputs_and_targets_are_added_from_the_settings_of_their_kinds(page: Page, shown: Shown, view: str, kind: str, given: str) -> None:
    open_view(page, f"{shown.url}view/{view}s")
    page.get_by_role("button", name=re.compile("^Add ")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Kind").select_option(kind)
    dialog.get_by_label("Name", exact=False).first.fill("added")
    dialog.get_by_label(f"{given} (required)").fill({"folder": "/nowhere", "url": "http://127.0.0.1:9"}[given])
    dialog.get_by_role("button", name=re.compile("^Add ")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("added")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog", name="Remove").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("link", name="added")).to_have_count(0)


def test_a_key_is_created_and_shown_once(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/keys")
    page.get_by_role("button", name="Create a key").press("Enter")
    dialog = page.get_by_role("dialog", name="Create a key")
    dialog.get_by_role("button", name="Create a key").press("Enter")
    expect(dialog.get_by_label("Name (required)")).to_be_focused()
    expect(dialog).to_contain_text("Choose one at least.")
    page.keyboard.type("etl of the page")
    dialog.get_by_role("checkbox", name="ingest").press("Space")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Name (required)")).to_have_accessible_description(re.compile("not a valid name"))
    page.keyboard.press("Control+a")
    page.keyboard.type("page-etl")
    page.keyboard.press("Enter")
    key = dialog.get_by_label("API key").inner_text().strip()
    assert re.fullmatch(r"lb_[a-z0-9]+_[a-z0-9]+", key)
    for closing in ("Enter", "Escape", "Escape"):  # none of them, since the key is shown only now
        page.keyboard.press(closing)
    page.mouse.click(5, 5)
    expect(dialog.get_by_label("API key")).to_have_text(key)
    dialog.get_by_role("button", name="Done").press("Enter")
    expect(page.locator("tbody tr", has_text="page-etl")).to_contain_text("ingest")
    expect(page.locator("body")).not_to_contain_text(key)


def test_who_may_not_add_is_answered_with_the_scope(page: Page, shown: Shown) -> None:
    sign_in(page, shown, "view/targets")
    expect(page.get_by_text("Adding a target needs the scope operate.")).to_be_visible()
    expect(page.get_by_role("button", name="Add a target")).to_have_count(0)


def test_counts_of_the_start_page_lead_to_the_lists_behind_them(page: Page, shown: Shown) -> None:
    open_view(page, shown.url)
    card = page.get_by_role("region", name="The estate").locator("article", has=page.get_by_role("heading", name="kafka", exact=True))
    link = card.locator(".figure a")
    count = int(link.inner_text().split()[0])
    link.press("Enter")
    expect(page.get_by_label("Namespace", exact=True)).to_have_value(re.compile(r"^kafka://"))
    expect(page.locator("tbody tr")).to_have_count(count)
    page.go_back()
    types = page.get_by_role("region", name="The estate").locator("article.job")
    for number in range(types.count()):
        figure, state = types.nth(number).locator(".figure a"), types.nth(number).locator(".states a").first
        for link, count in ((figure, int(figure.inner_text().split()[0])), (state, int(re.sub(r"\D", "", state.inner_text())))):
            link.press("Enter")
            expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
            expect(page.locator("tbody tr")).to_have_count(count)
            page.go_back()
            expect(types.first).to_be_visible()
    attention = page.get_by_role("region", name="What needs attention")
    attention.get_by_role("link", name="no_time").first.press("Enter")
    expect(page.get_by_label("Reason")).to_have_value("no_time")
    page.go_back()
    attention.get_by_role("link", name=re.compile("in quarantine")).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Quarantine")


@pytest.mark.parametrize("view", ["sources", "inputs", "targets", "keys"])
def test_axe_finds_nothing_in_forms_with_mistakes(page: Page, shown: Shown, view: str) -> None:
    open_view(page, f"{shown.url}view/{view}")
    label = re.compile("^(Add|Create) ")
    page.get_by_role("button", name=label).click()
    page.get_by_role("dialog").get_by_role("button", name=label).click()
    expect(page.locator("[aria-invalid=true]").first).to_be_focused()
    assert violations(page) == []

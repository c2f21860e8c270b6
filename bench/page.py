"""page: what the web page costs in Debian's Chromium, in processor time of its threads; its budgets are beside each figure."""

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import MappingProxyType
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from tests.api.support import Server, running
from tests.events import KEY
from tests.page.conftest import ROOT, listening
from tests.servers.chromium import chromium

from bench.meter import Result
from bench.page_lineages import COLUMNS, NAMESPACE, changed_event, events, layout_request
from bench.progress import report
from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.write.apply import GraphWriter

STATIC = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static"
FRAMES = 90
TICKS = 4
PAINTS = 5
"""Browsers whose first paint is measured: each differs from the next."""
PAINTED = "Lineage: 199 nodes"
EARLIER_US = 7_200_000_000
"""How long before the measurement the lineage of 200 nodes was produced: what is replaced within ten minutes is no change."""
COMPARED = "0 added, 0 removed, 2 changed"
SETTLED_S = 1.5
BUDGETS = {
    "script_gzip_kb": 220,
    "layout_500_ms": 100,
    "layout_2000_ms": 400,
    "first_paint_200_ms": 400,
    "compare_200_wall_ms": 1000,
    "pan_500_ms_per_frame": 10,
    "tick_700_links_ms": 20,
    "idle_core_percent": 1,
}
"""What each figure should not exceed: milliseconds are of the main thread, or of the layout's worker, if not of the clock (wall)."""

_LAY_OUT = """async ({url, requests}) => {
    const worker = window.benchWorker = new Worker(url, {type: 'module'});
    for (const [number, request] of requests.entries()) {
        const answer = new Promise((resolve, reject) => { worker.onmessage = resolve; worker.onerror = reject; });
        worker.postMessage({number, request});
        await answer;
    }
}"""
_NEXT_RATES = """() => {
    window.benchRates = new Promise(resolve => {
        const seen = new MutationObserver(() => { seen.disconnect(); resolve(); });
        seen.observe(document.querySelector('.lines'), {attributes: true, attributeFilter: ['data-rates']});
    });
}"""
"""The page says by itself when its rates have changed: to look again and again would cost as much as what is measured."""
_SUMMARY = "text => document.querySelector('.time-bar .summary')?.textContent === text"
_WITH_RATES = ".lines[data-rates]:not([data-rates='0'])"
_FRAME = "() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


def run(work: Path, *, quick: bool = False) -> Result:
    """The figures beside their budgets. `quick`: fewer frames and ticks, and a shorter time without anything to do."""
    subprocess.run([sys.executable, ROOT / "tools" / "page.py", "build"], check=True, stdout=sys.stderr)
    store = work / "empty.db"
    GraphWriter(store, Names(KEY)).close()
    found = chromium()
    with running(work / "server", store) as server, sync_playwright() as playwright:
        server.parts.now_us = time.time_ns() // 1000
        report("page: folding the lineages")
        for jobs, before_us in ((100, EARLIER_US), (250, 0)):
            server.send(*events(jobs, 0, server.parts.now_us - before_us))

        def launch() -> Browser:
            return playwright.chromium.launch(
                executable_path=found.program, env={**os.environ, **found.variables}, args=["--no-sandbox", "--disable-gpu"]
            )

        with listening(create_app(server.services)) as url:
            return {"budgets": BUDGETS, **_figures(launch, server, url, quick=quick)}


def _figures(launch: Callable[[], Browser], server: Server, url: str, *, quick: bool) -> Result:
    paints, empty = [], []
    for _ in range(1 if quick else PAINTS):
        with _opened(launch, server, url) as bench:
            paints.append(bench.first_paint())
        with _opened(launch, server, url) as bench:
            empty.append(bench.empty_page())
    with _opened(launch, server, url) as bench:
        return {
            "script_gzip_kb": _script_kb(),
            "first_paint_200_ms": median(main for main, _ in paints),
            "first_paint_200_all_threads_ms": median(every for _, every in paints),
            "empty_page_ms": median(main for main, _ in empty),
            "empty_page_all_threads_ms": median(every for _, every in empty),
            **bench.compare(1 if quick else PAINTS),
            "layout_500_ms": bench.layout(500, 672, rounds=2 if quick else 7),
            "layout_2000_ms": bench.layout(2000, 2857, rounds=2 if quick else 7),
            **bench.at_500(quick=quick),
        }


@contextmanager
def _opened(launch: Callable[[], Browser], server: Server, url: str) -> Iterator["_Bench"]:
    """A page of a browser that has been nowhere; there is no other meanwhile."""
    browser = launch()
    try:
        yield _Bench(browser.new_page(viewport={"width": 1440, "height": 900}), server, url)
    finally:
        browser.close()


class _Bench:
    """A page of a browser that has no other, and the server that it shows."""

    def __init__(self, page: Page, server: Server, url: str) -> None:
        self.page, self.server, self.url = page, server, url

    def first_paint(self) -> tuple[float, float]:
        """Milliseconds from the navigation to a lineage of 200 nodes until it is drawn: of the main thread, and of all threads."""
        report("page: first paint")
        spent = self._loaded(self._view(100))
        drawn = self.page.locator(".react-flow").get_attribute("aria-label", timeout=1000)
        if drawn != PAINTED:
            raise RuntimeError(f"drawn is {drawn!r}, not {PAINTED!r}")
        return spent

    def empty_page(self) -> tuple[float, float]:
        """The same of an answer that shows nothing: what the browser itself takes, most of it to begin a process."""
        report("page: an empty page")
        return self._loaded(f"{self.url}api/v1/health")

    def _loaded(self, url: str) -> tuple[float, float]:
        """Milliseconds of the main thread, and of all threads, for an address until nothing happens. The page is asked nothing meanwhile:
        that would count.
        """
        before = _spent("main"), _spent("")
        self.page.goto(url)
        self.page.wait_for_load_state("networkidle", timeout=120_000)
        self.page.wait_for_timeout(SETTLED_S * 1000)
        return round(_spent("main") - before[0], 1), round(_spent("") - before[1], 1)

    def compare(self, rounds: int) -> Result:
        """Milliseconds from the navigation to a lineage of 200 nodes, compared with the time before a dataset got a column and its job
        another statement, until exactly these two changes are shown: of the clock, and of the main thread. The median of all rounds.
        """
        report("page: compare")
        now_us = self.server.parts.now_us
        self.server.send(changed_event(100, now_us - 10_000_000))
        self.page.goto(self._view(100))
        self._settle()
        wall, main = [], []
        for _ in range(rounds):
            before, started = _spent("main"), time.perf_counter()
            self.page.goto(self._view(100, {"bar": "24", "from": format_time(now_us - EARLIER_US // 2)}))
            self.page.wait_for_function(_SUMMARY, arg=COMPARED, timeout=10_000)
            wall.append((time.perf_counter() - started) * 1000)
            main.append(_spent("main") - before)
        return {"compare_200_wall_ms": round(median(wall), 1), "compare_200_ms": round(median(main), 1)}

    def layout(self, boxes: int, links: int, rounds: int) -> Result:
        """Milliseconds of a new worker for its first layout, and for the middle one of those that follow."""
        report(f"page: layout of {boxes}")
        (asset,) = STATIC.glob("assets/layout.worker-*.js")
        request = layout_request(boxes, links)
        self.page.goto(self.url)  # a worker begins only in a page that its own server sent, with a policy that allows it
        self.page.wait_for_load_state("networkidle", timeout=120_000)
        spent = []
        for _ in range(rounds):
            before = _spent("DedicatedWorker")
            self.page.evaluate(_LAY_OUT, {"url": f"{self.url}assets/{asset.name}", "requests": [request]})
            spent.append(_spent("DedicatedWorker") - before)
            self.page.evaluate("() => window.benchWorker.terminate()")
            self.page.wait_for_timeout(200)
        return {"first": round(spent[0], 1), "median": round(median(spent), 1)}

    def at_500(self, *, quick: bool) -> Result:
        """What 500 nodes cost while they are moved, while nothing happens, and, with 750 links, while rates change."""
        report("page: 500 nodes with columns")
        around = self.server.ask("/graph/neighbourhood", namespace=NAMESPACE, name="s250.t0", depth=8, direction="downstream")
        datasets = [node["id"] for node in around["nodes"] if node["kind"] == "dataset"]
        self.page.goto(self._view(250, {"open": " ".join(datasets)}))
        self._settle()
        frames = FRAMES // 9 if quick else FRAMES
        pan = self._pan(frames)
        report("page: nothing happens")
        seconds = 5 if quick else 30
        before = _spent("main")
        self.page.wait_for_timeout(seconds * 1000)
        idle = (_spent("main") - before) / seconds / 10
        report("page: rates change")
        tick = self._tick(1 if quick else TICKS)
        return {
            "nodes": len(around["nodes"]),
            "columns": COLUMNS * len(datasets),
            "pan_500_ms_per_frame": round(pan, 2),
            "idle_core_percent": round(idle, 2),
            **tick,
        }

    def _pan(self, frames: int) -> float:
        """Milliseconds of the main thread for each frame in which the picture was moved, without what a frame without a move costs."""
        stage = self.page.locator(".react-flow__pane").bounding_box()
        assert stage
        x, y = stage["x"] + stage["width"] / 2, stage["y"] + 20
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        before = _spent("main")
        for frame in range(frames):
            self.page.mouse.move(x + 4 * (frame % 45), y + 2 * (frame % 45))
            self.page.evaluate(_FRAME)
        moved = _spent("main") - before
        self.page.mouse.up()
        before = _spent("main")
        for _ in range(frames):
            self.page.evaluate(_FRAME)
        return (moved - (_spent("main") - before)) / frames

    def _tick(self, ticks: int) -> Result:
        """Milliseconds of the main thread from one state of the rates to the next, with all that is asked meanwhile."""
        self.page.goto(self._view(250, {"pulse": "live"}))
        # Rates are pushed, so the network is never idle.
        self.page.wait_for_selector(_WITH_RATES, timeout=120_000)
        self.page.wait_for_timeout(SETTLED_S * 1000)
        spent = []
        for tick in range(1, ticks + 1):
            self.page.evaluate(_NEXT_RATES)
            before = _spent("main")
            self.server.send(*events(250, tick, self.server.parts.now_us))
            self.page.evaluate("() => window.benchRates")
            self.page.wait_for_timeout(SETTLED_S * 1000)
            spent.append(_spent("main") - before)
        return {"tick_700_links_ms": {"least": round(min(spent), 1), "median": round(median(spent), 1)}}

    def _settle(self) -> None:
        self.page.wait_for_selector(".react-flow__node", timeout=120_000)
        self.page.wait_for_load_state("networkidle", timeout=120_000)
        self.page.wait_for_timeout(SETTLED_S * 1000)

    def _view(self, jobs: int, parameters: Mapping[str, str] = MappingProxyType({})) -> str:
        query = {"kind": "dataset", "namespace": NAMESPACE, "name": f"s{jobs}.t0", "up": 0, "down": 8, **parameters}
        return f"{self.url}view/lineage?{urlencode(query)}"


def _script_kb() -> float:
    """The scripts that every view loads, compressed, in units of 1,024 bytes."""
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    scripts = [path for path in STATIC.glob("assets/*.js") if path.name in index]
    return round(sum(len(gzip.compress(path.read_bytes())) for path in scripts) / 1024, 1)


def _spent(thread: str) -> float:
    """Processor milliseconds of the threads whose names begin so, in the renderers that this process has started; `main` is their first."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        try:
            if "--type=renderer" not in process.cmdline():
                continue
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                if int(task.name) == process.pid if thread == "main" else (task / "comm").read_text().startswith(thread):
                    total += int((task / "schedstat").read_text().split()[0])
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            continue
    return total / 1e6

"""page: what the web page costs in Debian's Chromium, in processor time of its threads; its budgets are beside each figure."""

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from tests.api.support import Server, running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import ROOT, listening
from tests.servers.chromium import chromium

from bench.meter import Result
from bench.progress import report
from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

STATIC = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static"
NAMESPACE = "kafka://broker:9092"
COLUMNS = 10
FAN_OUT = 3
FRAMES = 90
TICKS = 4
PAINTS = 5
"""Browsers whose first paint is measured: each differs from the next."""
PAINTED = "Lineage: 199 nodes"
SETTLED_S = 1.5
POLLED_MS = 250
"""How often it is looked whether the rates have changed; to look at every frame would cost more than what is measured."""
BUDGETS = {
    "script_gzip_kb": 220,
    "layout_500_ms": 100,
    "layout_2000_ms": 400,
    "first_paint_200_ms": 400,
    "pan_500_ms_per_frame": 10,
    "tick_700_links_ms": 20,
    "idle_core_percent": 1,
}
"""What each figure should not exceed: milliseconds are of the main thread, or of the layout's worker."""

_LAY_OUT = """async ({url, requests}) => {
    const worker = window.benchWorker = new Worker(url, {type: 'module'});
    for (const [number, request] of requests.entries()) {
        const answer = new Promise((resolve, reject) => { worker.onmessage = resolve; worker.onerror = reject; });
        worker.postMessage({number, request});
        await answer;
    }
}"""
_RATES = "() => document.querySelector('.lines').dataset.rates"
_CHANGED = f"before => ({_RATES})() !== before"
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
        for jobs in (100, 250):
            server.send(*_events(jobs, 0, server.parts.now_us))

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

    def layout(self, boxes: int, links: int, rounds: int) -> Result:
        """Milliseconds of a new worker for its first layout, and for the middle one of those that follow."""
        report(f"page: layout of {boxes}")
        (asset,) = STATIC.glob("assets/layout.worker-*.js")
        request = _request(boxes, links)
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
        self._settle()
        spent = []
        for tick in range(1, ticks + 1):
            shown = self.page.evaluate(_RATES)
            before = _spent("main")
            self.server.send(*_events(250, tick, self.server.parts.now_us))
            self.page.wait_for_function(_CHANGED, arg=shown, timeout=120_000, polling=POLLED_MS)
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


def _events(jobs: int, generation: int, time_us: int) -> Iterator[bytes]:
    """Jobs that each read two datasets and write one of their own, with rows that differ from generation to generation."""
    random = Random(jobs)
    fields = [{"name": f"column_{number}", "type": "STRING"} for number in range(COLUMNS)]

    def described(number: int) -> dict[str, Any]:
        return dataset(f"s{jobs}.t{number}", NAMESPACE, schema=facet(fields=fields))

    for number in range(1, jobs):
        first = (number - 1) // FAN_OUT
        second = random.randrange(max(1, first + 1))
        rows = facet(rowCount=1000 * (generation + 1) + number)
        written = described(number)
        written["outputFacets"] = {"outputStatistics": rows}
        yield run_event(
            run=f"00000000-0000-4000-8000-{jobs:04}{generation:03}{number:05}",
            job=f"job{jobs}.{number}",
            time_us=time_us - 60_000_000 + generation * 1_000_000,
            inputs=[described(first), described(second)],
            outputs=[written],
        )


def _request(boxes: int, links: int) -> Result:
    """The layout of a graph in ranks, the same each time: most links lead to one of the next twelve boxes."""
    random = Random(boxes)
    ends = [
        (source, source + 1 + random.randrange(min(12, boxes - source - 1)))
        for source in (random.randrange(boxes - 1) for _ in range(links))
    ]
    return {
        "boxes": [{"id": f"n{number}", "width": 220, "height": 67 + number % 3 * 19} for number in range(boxes)],
        "links": [{"source": f"n{source}", "target": f"n{target}"} for source, target in ends],
        "before": {},
    }


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

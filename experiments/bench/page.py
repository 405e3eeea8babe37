"""The page on a run in a browser without a window: how large it is, how fast it loads and zooms."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from experiments.bench.browser import chromium
from experiments.bench.measurement import Measurement
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from grid.errors import GridError

ZOOMS = 10
ZOOM = """(zooms) => new Promise((done) => {
  const canvas = document.querySelector("#gantt0 canvas");
  const { x, y, width } = canvas.getBoundingClientRect();
  const place = { clientX: x + width / 2, clientY: y + 100, bubbles: true, cancelable: true };
  const found = [];
  const zoom = () => {
    const began = performance.now();
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -120, ...place }));
    requestAnimationFrame(() => {  // of the page's frame, which it asked for before
      const after = new MessageChannel();
      after.port1.onmessage = () => {
        found.push(performance.now() - began);
        if (found.length < zooms) zoom();
        else done(found);
      };
      after.port2.postMessage(0);
    });
  };
  zoom();
})"""


def bench_page(jobs: int = 100_000) -> list[Measurement]:
    """Measure the page on a run of four clusters whose jobs are split.

    Parameters
    ----------
    jobs : int
        Of the run.

    Raises
    ------
    GridError
        If there is no browser.
    """
    settings = [f"jobs_per_cluster={jobs // 4}", "interarrival=170"]
    with chromium() as browser, tempfile.TemporaryDirectory() as scratch:
        run(Scenario.load("beosim").changed(settings), out=scratch, keep_jobs=False)
        begin = time.process_time()
        page = page_of([Ran.read(scratch)])
        made = time.process_time() - begin
        path = Path(scratch) / "report.html"
        path.write_text(page, encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        troubles: list[str] = []
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        begin = time.perf_counter()
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        tab.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"
        )
        loaded = time.perf_counter() - begin
        zooms = tab.evaluate(ZOOM, ZOOMS)
        if troubles:
            raise GridError(f"page: {troubles[0]}")
    note = f"{jobs:,} jobs on 4 clusters"
    of_zooms = f"all charts in sight, of {ZOOMS} steps of the wheel from the whole run on"
    return [
        Measurement("page, size", len(page.encode()) / 1e6, "MB", f"{note}; expected: at most 15"),
        Measurement("page, made", made, "CPU s", f"{note}, read and written"),
        Measurement("page, loaded", loaded, "s", f"{note}, all drawn; expected: at most 3"),
        Measurement("page, zoom, median", sorted(zooms)[ZOOMS // 2], "ms", of_zooms),
        Measurement("page, zoom, slowest", max(zooms), "ms", f"{of_zooms}; expected: at most 100"),
    ]

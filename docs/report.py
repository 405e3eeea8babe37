"""Draw docs/report.png: the upper part of the page on a run whose jobs are split."""

import tempfile
from pathlib import Path

from experiments.bench.browser import chromium
from experiments.run import run
from experiments.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran


def draw(path: Path) -> None:
    """Draw the picture."""
    settings = ["jobs_per_cluster=60", "bsbw=900", "interarrival=170"]
    ran = Ran.of(run(Scenario.load("beosim").changed(settings), seed=4))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "report.html"
        page.write_text(page_of([ran]), encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1000, "height": 1560})
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-ready]")
        number = next(job for job, split in zip(ran.jobs["job"], ran.split, strict=True) if split)
        place = tab.evaluate(f"metasched.charts[0].place({number})")
        tab.mouse.click(place["x"], place["y"])
        tab.screenshot(path=path)


if __name__ == "__main__":
    draw(Path(__file__).parent / "report.png")

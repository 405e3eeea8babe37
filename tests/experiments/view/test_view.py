"""`metasched view` in a real browser, which is to ask nobody but this machine for anything."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.view import page as module
from tests.experiments.browsers import browser_or_skip

CODE = "from experiments.cli.app import main; main()"
GONE = """
import solara
from solara.server import settings
from experiments.scenario.scenario import Scenario
from experiments.view import model as module, page

page.app_of((Scenario.load("quickstart"), 0))
made, model_class = [], module.model_class

def noted(scenario, seed):
    return lambda seed: made.append(model_class(scenario, seed)(seed)) or made[0]

module.model_class = noted
_, shown = solara.render(page.Page(), handle_error=False)
before = made[0].running
shown.close()
print(settings.kernel.cull_timeout, before, made[0].running)
"""
SECONDS = 120_000
"""Wall time for which a page is waited for, ms: other tests run beside."""


@pytest.fixture
def shown():
    """Return what gives a page that the command shows, and what it asked for."""
    processes = []

    def show(browser, *words):
        command = [sys.executable, "-c", CODE, "view", *words, "--no-browser", "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        line = process.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
        page = browser.new_page(viewport={"width": 1500, "height": 1000})
        page.set_default_timeout(SECONDS)
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.missing = []
        page.on("response", lambda got: page.missing.append(got.url) if got.status > 399 else None)
        page.goto(url)
        page.wait_for_selector("text=Simulated time")
        page.url_of_all = url
        return page

    yield show
    for process in processes:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 130
        finally:
            process.kill()
            process.stdout.close()


def at(page, words):
    page.wait_for_selector(f"text={words}")


@pytest.mark.thorough
def test_a_run_is_played_stepped_and_changed_in_the_browser(shown):
    with browser_or_skip() as browser:
        page = shown(browser, "quickstart", "--set", "jobs=5000", "--set", "step=20", "--seed", "5")
        at(page, "Simulated time 0 s, 0 of 5,000 jobs done, 0 messages")
        at(page, "seed 5, global scheduler muscle, local scheduler titan")
        assert page.locator("label:has-text('seed') ~ input").input_value() == "5"
        step = page.get_by_role("slider", name="simulated s")
        step.press("Home")
        page.wait_for_selector("[aria-label='simulated s'][aria-valuenow='0.2']", state="attached")
        page.get_by_role("button", name="Step").click()
        at(page, "Simulated time 0.2")
        step.press("End")
        page.get_by_role("button", name="▶").click()
        page.wait_for_selector("text=/[1-9]\\d* of 5,000 jobs done/")
        page.get_by_role("button", name="❚❚").click()
        page.locator("label:has-text('seed') ~ input").fill("soon")
        page.locator("label:has-text('seed') ~ input").blur()
        page.get_by_role("button", name="Reset").click()
        at(page, "seed: found 'soon'; accepted: a whole number from 0")
        at(page, "Simulated time 0 s, 0 of 5,000 jobs done")
        abroad = [
            each for each in page.asked if page.url_of_all not in each and "blob:" not in each
        ]
        assert len(page.asked) > 10
        assert abroad == []
        assert page.missing == []
        page.get_by_role("button", name="▶").click()  # Ctrl-C ends one that plays, too
        page.wait_for_selector("text=/[1-9]\\d* of 5,000 jobs done/")


@pytest.mark.thorough
def test_a_page_of_ones_own_is_shown_too(shown, tmp_path):
    (tmp_path / "mine.py").write_text(
        """
from mesa.visualization import SolaraViz, make_plot_component
from agents.muscle import MuscleScheduler
from agents.titan import TitanScheduler
from agents.model import GridModel
from experiments.view import components
from grid.platform import Platform
from experiments.scenario.scenario import Scenario

class Mine(GridModel):
    def __init__(self, clusters=4):
        workload = Scenario.load("quickstart").changed(jobs=20).model().workload
        super().__init__(Platform.star([16] * clusters), workload, MuscleScheduler,
                         TitanScheduler)

clusters = {"type": "SliderInt", "value": 4, "min": 4, "max": 8, "step": 1}
page = SolaraViz(
    Mine(), components=[*components(), make_plot_component("queued")],
    model_params={"clusters": clusters}, name="my own"
)
"""
    )
    with browser_or_skip() as browser:
        page = shown(browser, str(tmp_path / "mine.py"))
        at(page, "my own")
        at(page, "0 of 20 jobs done")
        page.get_by_role("button", name="Step").click()
        page.wait_for_selector("text=/[1-9]\\d* of 20 jobs done/")


@pytest.mark.thorough
def test_pages_of_tabs_that_are_gone_are_not_played_on():
    ended = subprocess.run([sys.executable, "-c", GONE], capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1:] == ["30s True False"], ended.stderr


@pytest.mark.thorough
def test_an_exception_in_ones_own_page_is_shown_by_its_own_lines(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def model():\n    return 1 / 0\n\n\npage = model()\n")
    command = [sys.executable, "-c", CODE, "view", str(file), "--no-browser", "--port", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (1, "")
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("loading")]
    assert lines[0] == f"metasched: raised in {file}, line 2"
    frames = [line for line in lines if line.lstrip().startswith("File ")]
    assert [str(file) in line for line in frames] == [True, True]
    assert "ZeroDivisionError: division by zero" in lines


def test_what_cannot_be_shown_is_refused_in_one_line(monkeypatch, tmp_path):
    def refused(*words):
        result = CliRunner().invoke(main, ["view", *words])
        assert result.exit_code == 2
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        return line

    monkeypatch.setattr(module, "serve", None)  # it does not come to that
    assert "scenario 'quickstar': unknown" in refused("quickstar")
    (tmp_path / "mine.py").write_text("page = SolaraViz(Model())\n")
    for words in (["--set", "load=0.5"], ["--seed", "0"], ["--global", "dll"], ["--local", "fcfs"],
                  ["--workload", "log"], ["--platform", "grid.toml"]):  # fmt: skip
        line = refused(str(tmp_path / "mine.py"), *words, "--port", "0")
        assert line.startswith(f"metasched: {words[0]}: found with ")
    with module.listen(0) as taken:
        port = str(taken.getsockname()[1])
        assert f"--port {port}: " in refused("quickstart", "--port", port)
    monkeypatch.setattr(module, "NEEDED", ("nosuchmodule",))
    assert 'pip install "metasched[view]"' in refused("quickstart")

"""The page on runs in a real browser: it opens, tells, zooms, sorts, and runs no text of logs."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.show.words import limits
from tests.experiments.browsers import Opened, browser_or_skip
from tests.experiments.made_up_studies import STUDY, made_up, ripple

HOSTILE = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"

HOSTILE_NAME = "</script><script>hurt()</script>"
"""A cluster's name may not hold a few signs, such as the equals sign."""


def call(*words):
    got = CliRunner().invoke(main, [str(word) for word in words])
    assert got.exit_code == 0, got.output
    return got


@pytest.fixture(scope="module")
def browser():
    with browser_or_skip() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs of jobs that are split, by two policies, and the page on each and on both."""
    folder = tmp_path_factory.mktemp("runs")
    for policy in ("b3", "migration-only"):
        jobs = "--set", "jobs_per_cluster=40"
        call("run", "beosim", "--global", policy, *jobs, "--out", folder / policy)
        call("report", folder / policy, "-o", folder / f"{policy}.html")
    both = folder / "b3", folder / "migration-only"
    call("report", *both, "-o", folder / "both.html")
    return folder


@pytest.fixture
def opened(browser, folder):
    opened = Opened(browser, folder / "b3.html", viewport={"width": 1200, "height": 1800})
    yield opened
    assert opened.troubles == []
    assert opened.requests == [(folder / "b3.html").as_uri()]
    opened.page.close()


def place(page, number):
    """Return where a job is drawn, in sight."""
    page.locator("#gantt0 canvas").scroll_into_view_if_needed()
    found = page.evaluate(f"metasched.charts[0].place({number})")
    return found["x"], found["y"]


def split_job(folder):
    rows = (folder / "b3" / "jobs.csv").read_text().splitlines()[1:]
    number, _, size, _, _, placement = next(r for r in rows if "+" in r).split(",")
    return int(number), int(size), placement


def test_the_page_tells_what_was_found(opened):
    assert opened.text("h1") == "beosim: b3 over fcfs"
    words = opened.text("section")
    assert "b3 over fcfs completed 160 of 160 jobs on 4 clusters with 400 processors" in words
    assert "of the jobs were split across clusters" in words


def test_pointing_at_a_job_tells_about_it(opened, folder):
    number, size, _ = split_job(folder)
    opened.page.fill(".find", str(number))
    opened.page.press(".find", "Enter")
    opened.settle()
    opened.page.mouse.move(*place(opened.page, number))
    tip = opened.text("#tip")
    assert f"job {number}, {size} processors" in tip
    assert "after a wait of" in tip


def test_the_tip_is_of_what_is_below_the_pointer(opened, folder):
    number, _, _ = split_job(folder)
    page = opened.page
    page.mouse.move(*place(page, number))
    assert opened.text("#tip").startswith(f"job {number},")
    page.fill(".find", "1" if number != 1 else "2")
    page.press(".find", "Enter")
    opened.settle()
    below = page.evaluate(
        """() => { const { clientX, clientY } = tip.event, chart = metasched.charts[0];
          const box = chart.canvas.getBoundingClientRect();
          const job = chart.jobAt(clientX - box.x, clientY - box.y);
          return job < 0 ? null : chart.run.number[job]; }"""
    )
    assert below != number
    if below is None:
        assert page.locator("#tip").is_hidden()
    else:
        assert opened.text("#tip").startswith(f"job {below},")


def test_scrolling_hides_the_tip(opened, folder):
    number, _, _ = split_job(folder)
    opened.page.mouse.move(*place(opened.page, number))
    assert opened.page.locator("#tip").is_visible()
    opened.page.evaluate("window.scrollBy(0, 40)")
    opened.page.wait_for_selector("#tip", state="hidden")


def test_split_jobs_have_a_colour_only_in_runs_that_split(folder):
    assert (folder / "both.html").read_text().count('<option value="split">') == 1


def test_a_click_keeps_a_split_job_with_its_parts(opened, folder):
    number, _, placement = split_job(folder)
    opened.page.mouse.click(*place(opened.page, number))
    details = opened.text(".details")
    assert f"job {number}," in details
    for part in placement.split("+"):
        cluster, count = part.split(":")
        assert f"part on {cluster}: {count} processors" in details


def test_an_unknown_job_is_not_found(opened):
    before = opened.text("#shown")
    opened.page.fill(".find", "999999")
    opened.page.press(".find", "Enter")
    opened.settle()
    assert opened.text("#shown") == before
    assert opened.page.eval_on_selector(".find", "box => !box.validity.valid")


def test_wheel_drag_and_double_click_change_what_all_charts_show(opened):
    page = opened.page
    pixels = "() => document.querySelector('#used canvas').toDataURL()"
    shown, drawn = [opened.text("#shown")], [page.evaluate(pixels)]
    page.locator("#gantt0 canvas").scroll_into_view_if_needed()
    box = page.locator("#gantt0 canvas").bounding_box()
    middle = box["x"] + 600, box["y"] + 150

    def note():
        opened.settle()
        shown.append(opened.text("#shown"))
        drawn.append(page.evaluate(pixels))

    page.mouse.move(*middle)
    page.mouse.wheel(0, -600)
    page.wait_for_function("before => document.getElementById('shown').textContent !== before",
                           arg=shown[0])  # fmt: skip
    note()
    page.mouse.down()
    page.mouse.move(middle[0] - 200, middle[1])
    page.mouse.up()
    note()
    page.mouse.dblclick(*middle)
    note()
    assert shown[0] == shown[3]
    assert len(set(shown)) == 3
    assert len(set(drawn[:3])) == 3


def test_keys_and_buttons_zoom(opened):
    all_of_it = opened.text("#shown")
    opened.page.focus("#gantt0 canvas")
    opened.page.keyboard.press("+")
    opened.settle()
    assert opened.text("#shown") != all_of_it
    opened.page.click(".whole")
    opened.settle()
    assert opened.text("#shown") == all_of_it


def test_headings_sort_tables(opened):
    heading = "table.sortable th >> nth=3"
    column = "rows => rows.map(row => Number(row.cells[3].dataset.value))"

    def cells():
        return opened.page.eval_on_selector_all("table.sortable >> nth=0 >> tbody tr", column)

    opened.page.click(f"{heading} >> button")
    assert cells() == sorted(cells())
    opened.page.click(f"{heading} >> button")
    assert cells() == sorted(cells(), reverse=True)
    assert len(set(cells())) > 1


def test_curves_tell_and_can_be_hidden(opened):
    opened.page.locator("#used canvas").scroll_into_view_if_needed()
    box = opened.page.locator("#used canvas").bounding_box()
    opened.page.mouse.move(box["x"] + 500, box["y"] + 60)
    assert "C2: " in opened.text("#tip")
    opened.page.click("#used .legend button >> nth=2")
    opened.page.mouse.move(box["x"] + 505, box["y"] + 60)
    assert "C2: " not in opened.text("#tip")
    assert "C1: " in opened.text("#tip")


def test_the_use_that_is_drawn_is_that_of_the_summary(opened, folder):
    summary = json.loads((folder / "b3" / "summary.json").read_text())
    drawn = opened.page.evaluate(
        "() => { const all = metasched.curves[0].series[0].drawn;"
        " return all.reduce((sum, each) => sum + each, 0) / all.length; }"
    )
    assert drawn == pytest.approx(summary["metrics"]["utilization"], rel=1e-6)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser, folder, scheme):
    small = {"width": 360, "height": 740}
    opened = Opened(browser, folder / "both.html", viewport=small, color_scheme=scheme)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert opened.troubles == []
    opened.page.close()


def test_it_prints(browser, folder):
    opened = Opened(browser, folder / "b3.html")
    assert opened.page.pdf()[:4] == b"%PDF"
    assert opened.troubles == []
    opened.page.close()


def test_runs_are_compared(browser, folder):
    opened = Opened(browser, folder / "both.html")
    words = opened.text("section")
    assert "All runs had the same jobs." in words
    assert "The lowest mean wait is that of" in words
    assert "waited less under b3 than under migration-only" in words
    assert opened.page.locator("canvas[aria-label^='Gantt']").count() == 2
    assert opened.troubles == []
    opened.page.close()


@pytest.mark.thorough
def test_nothing_is_drawn_of_a_run_that_completed_no_job(browser, folder, tmp_path):
    log, none, page = (tmp_path / name for name in ("log.csv", "none", "page.html"))
    log.write_text("arrival,size,runtime\n7,400,100\n")
    words = "run", "site", "--set", "nodes=8", "--workload", str(log), "--out", str(none)
    assert CliRunner().invoke(main, words).exit_code == 1
    for others in ([], [folder / "b3"]):
        call("report", none, *others, "-o", page)
        opened = Opened(browser, page, viewport={"width": 1200, "height": 900})
        for told in ("Charts show", "Over time", "are spread", "own idle-time are", "a pixel of"):
            assert (told in opened.text("body")) == bool(others)
        assert opened.page.locator("#used .legend").all_inner_texts() == ["b3"][: len(others)]
        assert opened.troubles == []
        opened.page.close()


def test_text_of_logs_does_nothing(browser, folder, tmp_path):
    result = tmp_path / "<img src=x onerror='window.hurt = 3'>"
    result.mkdir()
    for name in ("jobs.csv", "timeline.csv"):
        text = (folder / "b3" / name).read_text()
        (result / name).write_text(text.replace("C1", HOSTILE_NAME))
    text = (folder / "b3" / "summary.json").read_text()
    summary = json.loads(text.replace('"C1"', json.dumps(HOSTILE_NAME)))
    summary["scenario"] = summary["workload"] = HOSTILE
    summary["jobs"] |= {"completed": 159, "rejected": 1}
    summary["rejections"] = {HOSTILE: 1}
    summary["cleaning"] = {"records": 1, "rules": {HOSTILE: 1}}
    (result / "summary.json").write_text(json.dumps(summary))
    page = tmp_path / "hostile.html"
    call("report", result, "-o", page)
    opened = Opened(browser, page, viewport={"width": 1200, "height": 900})
    assert HOSTILE in opened.text("h1")
    assert HOSTILE in opened.text("section")
    opened.page.locator("#used canvas").hover(position={"x": 500, "y": 60})
    assert HOSTILE_NAME in opened.text("#tip")
    assert opened.page.evaluate("[window.hurt, document.images.length]") == [None, 0]
    assert (opened.troubles, opened.requests) == ([], [page.as_uri()])
    opened.page.close()


# Studies ----------------------------------------------------------------------------------------


def turnaround(policy, workload, setting, replication):
    """ECT is better by far where links are fast; 500 of 1000 s, more or less."""
    gain = 500.0 + ripple(replication)
    quick = gain if setting["link_mbps"] == 1000 and policy.startswith("ect") else 0.0
    return {"mean_turnaround": 1000.0 - quick + replication}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    text = STUDY.replace("Made up", HOSTILE)
    call("report", made_up(folder / "results.db", turnaround, text), "-o", folder / "study.html")
    return folder / "study.html"


def test_a_study_has_a_page(browser, study):
    opened = Opened(browser, study, viewport={"width": 1200, "height": 900})
    assert opened.text("h1") == HOSTILE
    assert "2 policies compared at 2 settings" in opened.text("section")
    assert opened.page.locator("figure svg .curve0 circle").count() == 2
    ranking = opened.page.locator("table.sortable").first
    rows = [row.split("\t") for row in ranking.locator("tbody tr").all_inner_texts()]
    at_fast = [row[1:3] for row in rows if row[0].strip() == "1000"]
    assert at_fast == [["1", "ect over fcfs"], ["2", "dll over fcfs"]]
    ranking.locator("th button").nth(4).click()
    values = [each.split("\t")[4] for each in ranking.locator("tbody tr").all_inner_texts()]
    assert values[0].startswith("8.367")
    effects = opened.page.locator("table.sortable").nth(1).locator("tbody tr")
    dll, ect = sorted(each.split("\t")[3:] for each in effects.all_inner_texts())
    assert dll == ["dll over fcfs", "5", "16.7", "0", "0", "0", "no"]
    assert ect == ["ect over fcfs", "5", "16.7", ect[3], "5", "0", "yes"]
    assert re.fullmatch(r"-8\.33 ± \S+e-\d+", ect[3])
    assert (opened.troubles, opened.requests) == ([], [study.as_uri()])
    assert opened.page.evaluate("window.hurt") is None
    opened.page.close()


def test_a_study_fits_a_phone(browser, study):
    opened = Opened(browser, study, viewport={"width": 360, "height": 740})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    opened.page.close()


def test_replications_are_advised_where_they_tell_something():
    def told(workload):
        summary = {"workload": workload, "parameters": {}, "platform": {}, "local": "easy"}
        summary |= {"simulated_s": 9.0, "jobs": {"completed": 1}}
        ran = SimpleNamespace(summary=summary, real="")
        return " ".join(sentence.text for sentence in limits([ran]))

    assert "Replications do (metasched run ... --replications 10)" in told(None)
    assert "Replications do" not in told("mine.swf")
    assert "windows of a study" in told("mine.swf")


def test_users_are_told_with_how_unequal_they_are(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("arrival,size,runtime,user\n0,1,60,7\n0,1,60,8\n0,1,60,7\n")
    words = "run", "site", "--workload", log, "--set", "nodes=1", "--local", "fcfs"
    for name in ("a", "b"):
        call(*words, "--out", tmp_path / name)
    page = tmp_path / "page.html"
    call("report", tmp_path / "a", "-o", page)
    # Waits of user 7 are 0 and 120 s, that of user 8 is 60 s: means are alike.
    text = " ".join(page.read_text().split())
    assert "2 of 2 users, by the work of their jobs" in text
    assert "all users: of mean waits 0, of mean slowdowns 0 (0: all alike)" in text
    call("report", tmp_path / "a", tmp_path / "b", "-o", page)
    assert "b: 2 of 2 users" in page.read_text()


@pytest.fixture(scope="module")
def of_users(tmp_path_factory):
    """Two runs of jobs of two users, who share 2 processors for 60 s; then one has all."""
    folder = tmp_path_factory.mktemp("users")
    log = folder / "log.csv"
    log.write_text("arrival,size,runtime,user\n0,1,60,7\n0,1,100,8\n10,2,40,8\n")
    for name in ("a", "b"):
        call("run", "site", "--workload", log, "--set", "nodes=2", "--out", folder / name)
    call("report", folder / "a", "-o", folder / "a.html")
    call("report", folder / "a", folder / "b", "-o", folder / "both.html")
    return folder


def test_shares_of_users_sum_to_1_at_any_time(browser, of_users):
    opened = Opened(browser, of_users / "a.html")
    shares = "metasched.curves.find((each) => each instanceof Shares)"
    drawn = f"() => {shares}.series.map((each) => [each.name, [...each.drawn]])"
    found = dict(opened.page.evaluate(drawn))
    assert [*found] == ["user 8", "user 7"]
    assert [one + other for one, other in zip(*found.values(), strict=True)] == pytest.approx(
        [1.0] * len(found["user 8"])
    )
    assert (found["user 8"][0], found["user 8"][-1]) == (0.5, 1.0)
    opened.page.click("#share_user0 .legend button >> nth=1")  # who is hidden still has its share
    assert dict(opened.page.evaluate(drawn))["user 8"][0] == 0.5
    opened.page.locator("#share_user0 canvas").hover(position={"x": 100, "y": 60})
    assert "user 8: 50.0 %" in opened.text("#tip")
    assert "user 7" not in opened.text("#tip")
    assert opened.troubles == []
    opened.page.close()


def test_gini_coefficients_over_time_end_at_that_of_the_table(browser, of_users):
    metrics = json.loads((of_users / "a" / "summary.json").read_text())["metrics"]
    assert metrics["gini_wait"] == 0.5  # mean waits are 0 and 45 s
    opened = Opened(browser, of_users / "both.html")
    drawn = opened.page.evaluate(
        "() => metasched.curves.filter((each) => each.canvas.closest('#gini_wait'))[0]"
        ".series.map((each) => [each.name, each.drawn[0], each.drawn.at(-1)])"
    )
    assert drawn == [["a", 0, 0.5], ["b", 0, 0.5]]
    assert opened.page.locator("[id^=share_user]").count() == 2
    assert "By user, it ends at the number below the table of users." in opened.text("#gini_wait")
    assert opened.troubles == []
    opened.page.close()

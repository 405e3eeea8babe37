from __future__ import annotations

import io
import re
from types import SimpleNamespace

import numpy as np
import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from agents.muscle import MuscleScheduler
from agents.schedulers import GlobalScheduler
from agents.titan import TitanScheduler
from experiments import dashboard as module
from experiments.columns import ASCII, UNICODE, Column, fill, fit, names, numbers, shorten, table
from experiments.dashboard import Dashboard, save_svg
from experiments.happenings import KEPT, Happenings
from experiments.picture import Picture, Progress, clock
from grid.distributions import BoundedPareto, UniformSizes
from grid.jobs import job_table
from grid.platform import Platform
from grid.workloads.deadlines import ServiceClass
from grid.workloads.source import Cleaning
from grid.workloads.synthetic import BatchWorkload

SIZES = [(80, 24), (200, 60)]
UNKNOWN = Progress((), None, None)


def grid_of(clusters, *, world=MuscleScheduler, local=TitanScheduler, count=400, names=()):
    names = names or [f"C{index}" for index in range(1, clusters + 1)]
    tables = [{"name": name, "size": (20, 16, 12, 10)[i % 4]} for i, name in enumerate(names)]
    workload = BatchWorkload(
        mean_batch=20.0 * clusters,
        count=count,
        sizes=UniformSizes(1, 10),
        runtimes=BoundedPareto(5, 100),
        classes=(ServiceClass("all", 1.0, 0, 5),),
        origins=(0.4 / clusters,) * clusters,
        seed=1,
    )
    return GridModel(
        Platform.from_dict({"clusters": tables}), workload, world, local, latency=0.5, interval=20.0
    )


class FewJobs:
    """Jobs that a test made by hand."""

    cleaning = Cleaning()

    def __init__(self, *rows):
        self.jobs = job_table(len(rows))
        for job, row in zip(self.jobs, rows, strict=True):
            for name, value in row.items():
                job[name] = value
        self.count = len(rows)

    def chunks(self):
        yield self.jobs.copy()


class Splits(GlobalScheduler):
    """Puts half of each job on each of two clusters."""

    spans = True

    def place(self, job):
        half = job.size // 2
        return {"C1": half, "C2": half} if self.clusters[0].free >= half else None


class Screen:
    """A terminal that remembers what it shows."""

    def __init__(self, width, height):
        self.screen = pyte.Screen(width, height)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.text = io.StringIO()
        self.console = Console(
            file=self, force_terminal=True, width=width, height=height, legacy_windows=False
        )

    def write(self, text):
        self.text.write(text)
        self.stream.feed(text)

    def flush(self):
        pass

    def isatty(self):
        return True


def plain(model, width, height, progress=UNKNOWN, **options):
    picture = Picture(model, "a run", **options)
    return [line.plain for line in picture.lines(progress, width, height)]


# Layout -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("clusters", [1, 4, 30])
def test_no_line_wraps_or_overflows_a_terminal(clusters, size, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(*size)
    model = grid_of(clusters, count=200)
    with Dashboard(model, "a run", terminal.console, refresh=1e9) as dashboard:
        while model.running:
            model.step()
            dashboard.update()
    shown = [line.rstrip() for line in terminal.screen.display]
    expected = dashboard._picture.lines(dashboard._progress(), size[0], size[1] - 1)
    # Wall time moves on between the two, and shows in the second and third line alone.
    assert shown[0] == expected[0].plain
    assert shown[3:-1] == [line.plain.rstrip() for line in expected[3:]]
    assert shown[-1] == ""
    assert model.now > 0
    assert f"time {model.now:,.1f} s" in shown[1]
    assert "all done" in shown[2]


@given(st.integers(20, 240), st.integers(1, 80), st.sampled_from([1, 4, 30]))
def test_a_picture_keeps_to_any_size(midway, width, height, clusters):
    model, log = midway[clusters]
    lines = plain(model, width, height, Progress(log, 12.0, 34.5))
    assert len(lines) == height
    assert max(map(cell_len, lines)) <= width


@pytest.fixture(scope="module")
def midway():
    models = {}
    for clusters in (1, 4, 30):
        model = grid_of(clusters)
        for _ in range(3):
            model.step()
        happenings = Happenings(model)
        happenings.look()
        models[clusters] = model, happenings.last
    return models


@pytest.mark.parametrize("size", SIZES)
def test_long_and_wide_names_are_cut_by_cells(size):
    model = grid_of(3, names=["東京の計算センター" * 5, "x" * 40, "[red]C3[/red]"])
    model.step()
    happenings = Happenings(model)
    happenings.look()
    lines = plain(model, *size, Progress(happenings.last, None, None))
    assert max(map(cell_len, lines)) <= size[0]
    assert any("東京" in line and "…" in line for line in lines)
    assert any("[red]C3" in line for line in lines)
    # Sentences about the clusters can still be read.
    assert any("xxxxxx… starts job " in each.words for each in happenings.last)
    assert any(
        "東京の計算センタ… -> MUSCLE: makespan left" in each.words for each in happenings.last
    )
    # Columns still stand below each other.
    busy = [re.match(r".*/(?=20|16|12)", line) for line in lines[5:8]]
    assert len({cell_len(found[0]) for found in busy}) == 1


def test_more_clusters_than_lines_are_summed_up():
    model = grid_of(100, count=600)
    model.step()
    for width, height in SIZES:
        text = "\n".join(plain(model, width, height))
        shown = len(re.findall(r"^C\d+ +[▇·]", text, re.MULTILINE))
        busy = int((model.world.up - model.world.free)[shown:].sum())
        assert f"... {100 - shown} more clusters, {busy:,} processors busy" in text
        assert re.search(r"\.\.\. \d+ more links, at most 0 % used", text)
        assert "Messages: " in text


def test_messages_give_way_first(midway):
    model, log = midway[4]
    for height in range(14, 40):
        lines = plain(model, 80, height, Progress(log, None, None))
        text = "\n".join(lines)
        assert all(f"\nC{i} - switch" in text for i in range(1, 5)) == (height >= 21)
        assert all(re.search(rf"\nC{i} +[▇·]", text) for i in range(1, 5)) == (height >= 15)
        messages = next(i for i, line in enumerate(lines) if " Messages: " in line)
        assert height - messages == height - 15 if height >= 21 else height - messages >= 6


def test_columns_are_dropped_by_rank_and_numbers_never_cut():
    columns = [
        names("name", ["alpha"], UNICODE),
        numbers("first", ["123,456"], 1),
        numbers("last", ["789,012"], 2),
        Column("bar", lambda row, width: "#" * width, 4, 9, rank=3),
    ]
    for width, expected in {
        34: "alpha  123,456  789,012  #########",
        30: "alpha  123,456  789,012  #####",
        28: "alpha  123,456  789,012",
        22: "alpha  123,456",
        13: "alpha",
    }.items():
        assert table(columns, 1, width)[1].plain == expected


@given(st.text(), st.integers(3, 30), st.sampled_from([UNICODE, ASCII]))
def test_shortened_texts_fit_on_one_line(text, width, glyphs):
    short = shorten(text, width, glyphs)
    assert cell_len(short) <= width
    assert short.isprintable()


@given(st.lists(st.integers(0, 10**9).map(str)), st.integers(12, 60))
def test_items_stay_whole(items, width):
    assert set(fit(items, width).split()) <= set(items)
    lines = fill(items, width)
    assert all(len(line) <= width for line in lines)
    assert " ".join(lines).replace(",", "").split() == items


# Content ------------------------------------------------------------------------------------------


def test_every_number_of_a_known_state_appears():
    model = GridModel(
        Platform.star([1200, 900], capacity=[1000.0, np.inf]),
        FewJobs(
            {"number": 71, "size": 1100, "runtime": 9000.0, "origin": 0},
            {"number": 72, "size": 1000, "runtime": 50.0},
            {"number": 73, "size": 800, "runtime": 100.0, "arrival": 2.0, "deadline": 103.5},
            {"number": 74, "size": 5000, "runtime": 1.0, "arrival": 3.0},
            {"number": 75, "size": 1150, "runtime": 1.0, "arrival": 4.0},
        ),
        DynamicLeastLoadScheduler,
        FcfsScheduler,
        interval=4000.0,
        latency=0.25,
    )
    model.world.demand[:] = 250.0, 12.5
    model.step()
    happenings = Happenings(model)
    happenings.look()
    text = "\n".join(plain(model, 80, 24, Progress(happenings.last, 75.0, 0.04)))
    world = model.world
    assert "time 4,000.0 s (1:06:40)   global queue 0   running for 0:01:15" in text
    assert "3 of 5 jobs done (60 %)   ETA 0:00:50   0.040 jobs/s   1 rejected" in text
    assert "Clusters: 1,100 of 2,100 processors busy" in text
    age = [f"{world.now - at:,.0f} s" for at in world.known["at"]]
    assert re.search(rf"C1 +▇+·+ +1,100/1,200 +1 +1 +- +{age[0]}", text)
    assert re.search(rf"C2 +·+ +0/900 +0 +0 +- +{age[1]}", text)
    assert "Links: 262.5 Mbit/s demanded" in text
    assert re.search(r"C1 - switch +▇+·+ +250.0 +1,000 +25 %", text)
    assert re.search(r"C2 - switch +▇·+ +12.5 +unlimited +0 %", text)
    assert f"Messages: {model.in_flight} in flight, {model.messages} sent" in text
    for kind, count in world.messages.items():
        assert f"{kind} {count}" in text
    assert "C1 starts job 71 on 1100 processors, 50.2 s after its arrival" in text
    assert "C2 finishes job 73, 1.2 s before its deadline" in text
    assert "job 74 is rejected: too large, 5000 processors" in text


@pytest.mark.parametrize("size", SIZES)
def test_muscle_and_titan_are_shown_at_work(midway, size):
    model, log = midway[4]
    text = "\n".join(plain(model, *size, Progress(log, None, None)))
    last = model.rounds[-1]
    assert f"round {last.number}: {last.jobs.sum()} jobs" in text
    assert "ETA unknown" in text
    assert f"schedule {model.messages_posted}" in text
    for cluster in model.clusters:
        history = cluster.scheduler.history
        assert len(history) > 0
        assert re.search(
            rf"{cluster.name} .* {cluster.busy}/{cluster.size} +{cluster.running} +"
            rf"{cluster.waiting} +{cluster.scheduler.cp:,.1f} +[▁-█]+ +"
            rf"{history[0]:,.1f} -> {history[-1]:,.1f} ",
            text,
        )


def test_a_model_without_titan_has_dashes_and_no_search():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler)
    model.step()
    text = "\n".join(plain(model, 200, 60))
    assert "first -> last" not in text
    assert "round" not in text
    assert re.search(r"^C1 .* +- +\d+\.\d s", text, re.MULTILINE)


def test_failed_processors_are_told():
    jobs = FewJobs({"size": 8, "runtime": 50.0})
    model = GridModel(
        Platform.star([16]),
        jobs,
        DynamicLeastLoadScheduler,
        FcfsScheduler,
        interval=10.0,
        tracked=True,
    )
    for processor in range(12, 16):
        model.world.fail(0, processor, 5.0)
    model.step()
    lines = plain(model, 80, 24)
    assert re.search(r"busy +down +run", lines[4])
    assert re.match(r"C1 +▇+·+x+ +8/16 +4 +1 +0 ", lines[5])


def test_nothing_but_ascii_where_nothing_else_can_be_shown(midway):
    for model, log in midway.values():
        lines = plain(model, 200, 60, Progress(log, 1.0, 1.0), ascii_only=True)
        assert "\n".join(lines).isascii()
        assert any("#" in line for line in lines)


def test_clock():
    assert clock(0) == "0:00:00"
    assert clock(86399.9) == "23:59:59"
    assert clock(86400 * 1234 + 3661) == "1,234 d 01:01:01"


# Happenings ---------------------------------------------------------------------------------------


def test_looking_often_tells_what_looking_once_tells(monkeypatch):
    monkeypatch.setattr("experiments.happenings.KEPT", 10_000)
    model = grid_of(4, count=60)
    often, once = Happenings(model), Happenings(model)
    while model.running:
        model.step()
        often.look()
    once.look()
    assert sorted(often.last) == sorted(once.last)
    words = [each.words for each in once.last]
    assert len(words) > 120
    assert len(model.said) < model.said.maxlen
    assert sum(" starts job " in each for each in words) == 60
    assert sum(" finishes job " in each for each in words) == 60
    assert [each.words for each in once.last if each.order == 1] == [
        str(message) for message in sorted(model.said, key=lambda message: message.sent)
    ]


def test_a_job_can_be_followed(monkeypatch):
    monkeypatch.setattr("experiments.happenings.KEPT", 10_000)
    model = grid_of(4, count=20)
    happenings = Happenings(model)
    while model.running:
        model.step()
        happenings.look()
    row = model.world.records().rows[0]
    number, name = row["number"], model.world.platform.names[row["cluster"]]
    told = [each for each in happenings.last if re.search(rf"\b{number}\b", each.words)]
    start, end = (
        next(each for each in told if each.words.startswith(f"{name} {verb} job {number}"))
        for verb in ("starts", "finishes")
    )
    assert (start.time, end.time) == (row["start"], row["finish"])
    source = model.world.platform.names[row["origin"]] if row["origin"] >= 0 else name
    assert (f" from {source} " in start.words) == (source != name)


def test_only_the_last_of_many_happenings_are_kept():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler, count=2000)
    model.run()
    happenings = Happenings(model)
    happenings.look()
    assert len(happenings.last) == KEPT
    assert happenings.last[-1].time == pytest.approx(model.now, abs=1.0)
    times = [each.time for each in happenings.last]
    assert times == sorted(times)
    happenings.look()
    assert [each.time for each in happenings.last] == times


def test_the_latest_rows_are_the_last_of_all_rows():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler, count=300)
    assert len(model.world.latest(5)) == 0
    while model.running:
        model.step()
        before = [model.world.latest(count) for count in (0, 1, 7, 1000)]
        rows = model.world.records()  # which moves them to another place
        after = [model.world.latest(count) for count in (0, 1, 7, 1000)]
        for got in (before, after):
            assert [len(part) for part in got] == [min(len(rows), n) for n in (0, 1, 7, 1000)]
            assert all(np.array_equal(part, rows[len(rows) - len(part) :]) for part in got)
    assert len(rows) == 300


def test_a_job_on_two_clusters_is_told_once():
    jobs = FewJobs({"number": 5, "size": 8, "runtime": 50.0})
    model = GridModel(Platform.star([16, 16]), jobs, Splits, FcfsScheduler, interval=10.0)
    happenings = Happenings(model)
    model.step()
    happenings.look()
    words = "C1:4+C2:4 starts job 5 on 8 processors, 0.0 s after its arrival"
    assert [each.words for each in happenings.last] == [words]
    model.run()
    happenings.look()
    assert [each.words for each in happenings.last] == [
        words,
        "C1:4+C2:4 finishes job 5 after 50.0 s",
    ]


# Time ---------------------------------------------------------------------------------------------


@pytest.fixture
def wall(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(module, "perf_counter", lambda: clock.now)
    return clock


def test_a_picture_is_drawn_no_more_often_than_refresh(wall, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    model, terminal = grid_of(1), Screen(80, 24)
    dashboard = Dashboard(model, "a run", terminal.console, refresh=4.0)
    drawn = []
    monkeypatch.setattr(dashboard._live, "refresh", lambda: drawn.append(wall.now))
    with dashboard:
        for _ in range(1000):
            wall.now += 0.01
            dashboard.update()
        while_running = list(drawn)
    assert len(while_running) in (39, 40, 41)
    assert min(np.diff(while_running)) > 0.249
    assert len(drawn) == len(while_running) + 1


def test_a_slow_console_is_drawn_less_often(wall, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    model, terminal = grid_of(1), Screen(80, 24)
    dashboard = Dashboard(model, "a run", terminal.console, refresh=4.0)
    drawn = []

    def draw():
        drawn.append(wall.now)
        wall.now += 0.5

    monkeypatch.setattr(dashboard._live, "refresh", draw)
    with dashboard:
        for _ in range(5000):
            wall.now += 0.01
            dashboard.update()
    assert 2 <= len(drawn) <= 5


def test_rate_and_eta_come_from_jobs_done_and_wall_time(wall):
    model = grid_of(4)
    dashboard = Dashboard(model, "a run", Console(file=io.StringIO(), width=80, height=24))
    assert dashboard._progress().rate is None
    model.step()
    done = model.world.count("completed")
    assert done > 0
    wall.now += 8.0
    assert dashboard._progress().rate == done / 8.0
    left = round(8.0 * (400 - done) / done)
    assert f"ETA {clock(left)}" in plain(model, 80, 24, dashboard._progress())[2]


# Consoles -----------------------------------------------------------------------------------------


def run_on(console, count=40):
    model = grid_of(4, count=count)
    with Dashboard(model, "a run", console) as dashboard:
        while model.running:
            model.step()
            dashboard.update()
    return model


def test_a_dumb_terminal_gets_lines_and_a_last_picture(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    file = io.StringIO()
    run_on(Console(file=file, force_terminal=True, width=80, height=24))
    text = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert "\x1b" not in text
    first, *picture = text.splitlines()
    assert first.startswith("0 of 40 jobs done (0 %)   ETA unknown")
    assert "40 of 40 jobs done (100 %)   all done" in picture[2]
    assert max(map(cell_len, picture)) <= 80


def test_without_colour_there_is_no_colour(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Screen(80, 24)
    run_on(terminal.console)
    styles = re.findall(r"\x1b\[([0-9;]*)m", terminal.text.getvalue())
    assert set(styles) <= {"0", "1", "2"}


def test_what_a_scheduler_prints_stays_readable(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(80, 24)
    model = grid_of(1, count=40)
    with Dashboard(model, "a run", terminal.console):
        print("a scheduler's own words")
    assert "a scheduler's own words" in terminal.text.getvalue()
    assert not capsys.readouterr().out


def test_an_interrupted_run_keeps_its_last_picture(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(80, 24)
    model = grid_of(4)

    def interrupted():
        with Dashboard(model, "a run", terminal.console):
            model.step()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert f"time {model.now:,.1f} s" in terminal.screen.display[1]


def test_another_size_of_the_terminal_is_followed(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Screen(200, 60)
    model = grid_of(4)
    with Dashboard(model, "a run", terminal.console, refresh=1e9) as dashboard:
        model.step()
        dashboard._draw()
        terminal.console.size = 80, 24
        terminal.screen.resize(24, 80)
        dashboard._draw()
    assert terminal.screen.display[0].startswith("── a run ──")
    assert terminal.screen.display[3].startswith("── Clusters: ")


def test_dashboard_changes_no_result():
    with_it = run_on(Console(file=io.StringIO(), width=80, height=24), count=200)
    without = grid_of(4, count=200)
    without.run()
    assert np.array_equal(with_it.world.records(), without.world.records())


def test_svg(tmp_path):
    model = grid_of(4)
    model.step()
    path = tmp_path / "picture.svg"
    save_svg(model, "a run", path, elapsed=2.0)
    text = path.read_text(encoding="utf-8").replace("&#160;", " ")
    assert text.startswith("<svg")
    assert "metasched: a run" in text
    done = model.world.count("completed")
    assert f"{done} of 400 jobs done" in text
    assert f"{done / 2:,.1f} jobs/s" in text

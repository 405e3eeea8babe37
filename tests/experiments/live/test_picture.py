"""What the dashboard shows, and where, on a console of any size."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.model import GridModel
from experiments.events.happenings import Happenings
from experiments.events.words import Line, Story
from experiments.live.picture import Picture, Progress
from experiments.show.numbers import duration, time_scale
from grid.platform.multicluster import Platform
from tests.experiments.watched import SIZES, FewJobs, grid_of, plain

# Layout -------------------------------------------------------------------------------------------


@given(st.integers(20, 240), st.integers(1, 80), st.sampled_from([1, 4, 15]))
def test_a_picture_keeps_to_any_size(midway, width, height, clusters):
    model, log = midway[clusters]
    lines = plain(model, width, height, Progress(log, 12.0, 34.5, None))
    assert len(lines) == height
    assert max(map(cell_len, lines)) <= width


@pytest.fixture(scope="module")
def midway():
    models = {}
    for clusters in (1, 4, 15):
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
    lines = plain(model, *size, Progress(happenings.last, None, None, None))
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


@pytest.mark.thorough
def test_more_clusters_than_lines_are_summed_up():
    model = grid_of(100, count=600)
    model.step()
    for width, height in SIZES:
        text = "\n".join(plain(model, width, height))
        shown = len(re.findall(r"^C\d+ +[▇·]", text, re.MULTILINE))
        busy = int((model.world.state.up - model.world.state.free)[shown:].sum())
        assert f"... {100 - shown} more clusters, {busy:,} processors busy" in text
        assert "Links: no demand" in text
        assert "Messages: " in text


def test_more_links_than_lines_are_summed_up():
    model = grid_of(100)
    model.world.state.demand[:] = 250.0
    model.world.state.capacity[:] = 1000.0
    told = "Links: demand at most 25 % of capacity, 25,000.0 Mbit/s summed over links"
    assert told in "\n".join(plain(model, 80, 24))
    text = "\n".join(plain(model, 80, 120))
    assert "C3 - switch" in text
    assert re.search(r"\n\.\.\. \d+ more links, demand at most 25 % of capacity", text)


def test_links_that_nobody_reckons_are_not_told_to_carry_nothing():
    model = grid_of(4)
    model.world.state.penalty = 1.0
    text = "\n".join(plain(model, 80, 24))
    assert "Links: not measured" in text
    assert "no demand" not in text


def test_clusters_come_before_the_story_and_that_before_links_and_messages(midway):
    model, log = midway[4]
    story = Story("Following job 7", [Line(float(i), [f"line {i}"]) for i in range(6)])
    progress = Progress(log, None, None, story)
    for height in range(9, 40):
        text = "\n".join(plain(model, 80, height, progress))
        assert all(re.search(rf"\nC{i} +[▇·]", text) for i in range(1, 5))
        told = re.findall(r"line (\d)", text)
        assert told == [str(i) for i in range(6)][max(0, 6 - max(0, height - 10)) :]
        assert ("Following job 7" in text) == (height >= 10)
        assert ("Links: no demand" in text) == (height >= 17)
        assert ("Messages: " in text) == (height >= 19)


def test_what_is_cut_of_a_line_is_its_end(midway):
    model, _ = midway[4]
    line = Line(36.2, ["waits for MUSCLE to say where it goes", "one of 17 jobs"])
    progress = Progress((), None, None, Story("Following job 7", [line]))
    text = "\n".join(plain(model, 40, 24, progress))
    assert "\n36.2  waits for MUSCLE to say where it…\n" in text
    assert "one of" not in text
    assert "running" not in next(each for each in plain(model, 30, 8) if "more clusters" in each)


def test_a_link_with_demand_makes_the_panel_grow(midway):
    model, log = midway[4]
    lines = plain(model, 80, 40, Progress(log, None, None, None))
    assert not any(" - switch" in line for line in lines)
    model.world.state.demand[2] = 1.0
    try:
        grown = plain(model, 80, 40, Progress(log, None, None, None))
    finally:
        model.world.state.demand[2] = 0.0
    assert [line.split()[0] for line in grown if " - switch" in line] == ["C1", "C2", "C3", "C4"]


@pytest.mark.parametrize("size", SIZES)
def test_no_column_is_lost_with_long_names_and_large_numbers(size):
    model = grid_of(4, names=[f"The long name of site {i}" for i in range(4)])
    model.step()
    for cluster in model.clusters:
        cluster.scheduler.history = [12345.6, 1234.5]
    lines = plain(model, *size)
    head = lines[4].split()
    assert head == ["cluster", "busy", "run", "wait", "CP,", "h", "search", "gens", "news", "age"]
    assert " 3.43 -> 0.343 " in lines[5]


def test_the_bar_of_progress_stays_beside_large_numbers():
    model = grid_of(1)
    picture = Picture(model, "a log")
    picture._count = 39_356
    model.world.state.completed, model.world.state.rejected = 30_123, 3_701
    bar = picture._bar(Progress((), None, 12_345.6, None), 80).plain
    assert re.fullmatch(
        r"▇+·+   33,824/39,356 jobs \(86 %\)  ETA 0 s  12,346 jobs/s  3,701 rejected", bar
    )
    wide = picture._bar(Progress((), None, 12_345.6, None), 120).plain
    assert wide.startswith("▇" * 20)
    assert "33,824 of 39,356 jobs done (86 %)" in wide


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
    model.world.state.demand[:] = 250.0, 12.5
    model.step()
    happenings = Happenings(model)
    happenings.look()
    text = "\n".join(plain(model, 80, 24, Progress(happenings.last, 75.0, 0.04, None)))
    world = model.world
    assert "time 4,000 s (66.7 min)   global queue 0   running for 75 s" in text
    assert "3 of 5 jobs done (60 %)   ETA 50 s   0.040 jobs/s   1 rejected" in text
    assert "Clusters: 1,100 of 2,100 processors busy" in text
    age = [duration(world.now - at) for at in world.known["at"]]
    assert re.search(rf"C1 +▇+·+ +1,100/1,200 +1 +1 +{age[0]}", text)
    assert re.search(rf"C2 +·+ +0/900 +0 +0 +{age[1]}", text)
    assert "Links: demand at most 25 % of capacity, 262.5 Mbit/s summed over links" in text
    assert re.search(r"C1 - switch +▇+·+ +250.0 +1,000 +25 %", text)
    assert re.search(r"C2 - switch +▇·+ +12.5 +unlimited +0 %", text)
    assert f"Messages: {model.in_flight} in flight, {model.messages} sent" in text
    for kind, count in world.messages.items():
        assert f"{kind} {count}" in text
    assert "C1 starts job 71 on 1,100 processors, 50.2 s after its submission" in text
    assert "C2 finishes job 73, 1.25 s before its deadline" in text
    assert "job 74 is rejected: 5,000 processors, larger than can ever run" in text


@pytest.mark.parametrize("size", SIZES)
def test_muscle_and_titan_are_shown_at_work(midway, size):
    model, log = midway[4]
    text = "\n".join(plain(model, *size, Progress(log, None, None, None)))
    last = model.rounds[-1]
    assert f"allocation {last.number}: {last.jobs.sum()} jobs" in text
    assert "ETA unknown" in text
    assert f"scheduling {model.messages_posted}" in text
    histories = [cluster.scheduler.history for cluster in model.clusters]
    scale = time_scale(max(max(history[0], history[-1]) for history in histories))
    for cluster in model.clusters:
        assert "CP: late, makespan and idle times, weighted" in text
        history = cluster.scheduler.history
        assert len(history) > 0
        cps = f"{scale.told(history[0])} -> {scale.told(cluster.scheduler.cp)}"
        assert re.search(
            rf"{cluster.name} .* {cluster.busy}/{cluster.size} +{cluster.running} +"
            rf"{cluster.waiting} +{cps} +[▁-█]+ +"
            rf"{len(history) - 1:,} ",
            text,
        )


def test_a_model_without_titan_has_no_plans_to_tell_of():
    model = grid_of(4, world=DynamicLeastLoadScheduler, local=FcfsScheduler)
    model.step()
    text = "\n".join(plain(model, 200, 60))
    assert not re.search("search|round|CP|gens", text)
    assert "news age: how old the latest news of it is" in text


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
        model.world.resources.fail(0, processor, 5.0)
    model.step()
    lines = plain(model, 80, 24)
    assert re.search(r"busy +down +run", lines[4])
    assert re.match(r"C1 +▇+·+x+ +8/16 +4 +1 +0", lines[5])
    assert "restarts" not in lines[4]
    model.world.resources.fail(0, 0, 12.0)
    model.step()
    lines = plain(model, 80, 24)
    assert re.search(r" restarts$", lines[4])
    assert re.search(r" 1$", lines[5])


def test_nothing_but_ascii_where_nothing_else_can_be_shown(midway):
    for model, log in midway.values():
        lines = plain(model, 200, 60, Progress(log, 1.0, 1.0, None), ascii_only=True)
        assert "\n".join(lines).isascii()
        assert any("#" in line for line in lines)

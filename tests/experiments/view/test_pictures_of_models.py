"""What is drawn of a model, its controls, and how it is made anew."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest

from agents.messages import ScheduleReport
from experiments.scenario.scenario import Scenario
from experiments.view import drawings
from experiments.view.drawings import PICTURES, ordered
from experiments.view.model import controls, model_class
from experiments.view.network import (
    BETWEEN,
    JOBS,
    METADATA_OF_JOBS,
    NEWS,
    brokers_tree,
    places,
    travelling,
)
from experiments.view.page import components, has_page, listen
from grid.errors import GridError
from grid.platform.multicluster import Platform

QUICKSTART = Scenario.load("quickstart")


def after(steps, scenario=QUICKSTART, interval=0.2, **changes):
    model = model_class(scenario)(1, **changes)
    model.interval = interval
    for _ in range(steps):
        model.step()
    return model


def drawn(model):
    """Return the names of the pictures that a model has, all of which can be drawn."""
    found = {draw.__name__: draw(model) for draw in PICTURES}
    there = {name: figure for name, figure in found.items() if figure is not None}
    for figure in there.values():
        figure.savefig(io.BytesIO(), format="png", dpi=30)
    return set(there)


@pytest.mark.thorough
def test_a_run_has_the_pictures_of_what_it_has():
    both = {"network", "schedule", "course"}
    assert drawn(model_class(QUICKSTART)(1)) == {"network"}
    assert drawn(after(300)) == both | {"compositions", "convergence"}
    other = after(300, global_scheduler="dll", local_scheduler="fcfs")
    assert not other.refused
    assert drawn(other) == both
    split = Scenario.load("beosim").changed(jobs_per_cluster=40)
    model = after(20, split, 500.0)
    assert drawn(model) == both | {"links"}
    names = [draw.__name__ for draw in ordered(model)]
    assert names[3:] == ["links", "compositions", "convergence"]


def test_all_messages_on_their_way_are_there_each_between_its_brokers():
    model, kinds = after(0), set()
    for _ in range(400):
        model.step()
        found = list(travelling(model))
        assert len(found) == model.in_flight
        assert all(0 <= each.share <= 1 for each in found)
        kinds |= {each.kind for each in found}
        reports = [each for each in model.said if isinstance(each, ScheduleReport)]
        for report in reports:
            if report.sent < model.now < report.due:
                share = (model.now - report.sent) / (report.due - report.sent)
                want = (BETWEEN, report.sender, "MUSCLE")
                assert any(each[:3] == want and each.share == share for each in found)
    assert kinds == {BETWEEN, JOBS, METADATA_OF_JOBS, NEWS}


@pytest.mark.thorough
def test_messages_travel_a_tree_of_brokers_hop_by_hop():
    model, hops = after(0, Scenario.load("hierarchy")), set()
    tree = brokers_tree(model)
    for _ in range(60):
        model.step()
        hops |= {(each.receiver, each.sender) for each in travelling(model)
                 if each.kind == NEWS}  # fmt: skip
        assert set(places(tree, model.scheduler.name)) == set(tree)
    assert hops
    assert hops <= set(tree.edges)
    assert drawn(model) >= {"network"}


def test_the_schedule_ends_now_and_holds_what_is_held():
    model = after(300)
    axes = drawings.schedule(model).axes[0]
    blocks = axes.collections[0].get_paths()
    ends = np.array([path.vertices[:, 0].max() for path in blocks])
    heights = np.array([np.ptp(path.vertices[:, 1]) for path in blocks])
    until_now = np.isclose(ends * drawings.time_scale(model.now).size, model.now)
    assert heights[until_now].sum() == pytest.approx(sum(model.busy))


@pytest.mark.thorough
@pytest.mark.parametrize("latest", [30, 1])
def test_a_schedule_begins_where_it_shows_all_that_was_in_use(monkeypatch, latest):
    monkeypatch.setattr(drawings, "LATEST", latest)
    model = after(40, interval=20.0)
    axes = drawings.schedule(model).axes[0]
    begin, end = np.array(axes.get_xlim()) * drawings.time_scale(model.now).size
    assert 0 < begin < end
    assert end == pytest.approx(model.now)
    gone = model.world.log.records()
    left, _ = drawings._left_last(model)
    others = gone[~np.isin(gone["number"], left["number"])]
    assert len(others)
    assert np.nanmax(others["finish"]) <= begin * (1 + 1e-12)
    monkeypatch.setattr(drawings, "LATEST", 1000)
    assert drawings._left_last(model)[1] == 0


def test_what_is_in_use_is_drawn_from_each_step_on():
    model = after(40, interval=20.0)
    used, waiting = drawings.course(model).axes
    known, scale = model.datacollector.model_vars, drawings.time_scale(model.now).size

    def at(line, time):
        """Return what a reader sees at a time: what was drawn last, as steps are forwards."""
        assert line.get_drawstyle() == "steps-post"
        times, values = line.get_data()
        return values[np.searchsorted(times, time / scale, side="right") - 1]

    assert at(used.lines[0], 0.0) == 0
    total = model.world.platform.sizes.sum()
    ends = [*known["now"][1:], model.now]
    rows = zip(known["now"], ends, known["busy"], known["queued"], strict=True)
    for begin, end, busy, queued in rows:
        assert at(used.lines[0], (begin + end) / 2) == pytest.approx(100 * sum(busy) / total)
        assert at(waiting.lines[0], (begin + end) / 2) == queued
    assert used.lines[0].get_xdata()[-1] * scale == pytest.approx(model.now)


@pytest.mark.thorough
def test_a_run_of_many_clusters_can_be_drawn():
    many = QUICKSTART.changed(platform=Platform.star([4] * 60), max_size=4)
    model = after(30, many)
    assert "network" in drawn(model)
    assert len(drawings.schedule(model).axes[0].get_yticklabels()) == 30  # every second


def test_a_step_takes_what_its_slider_says_even_if_nothing_happens():
    model = after(0)
    for interval in (0.2, 0.5):
        model.interval, begin = interval, model.now
        model.step()
        assert model.now == pytest.approx(begin + interval)


@pytest.mark.thorough
@pytest.mark.parametrize("made", [model_class(QUICKSTART), QUICKSTART.model])
def test_what_is_drawn_while_another_thread_steps_is_of_one_moment(made):
    model, midway, drawn = made(1), threading.Event(), threading.Event()

    def slow(model):
        if model.datacollector.model_vars["now"]:  # else Mesa only tries it
            midway.set()
            drawn.wait(0.5)
        return model.completed

    model.datacollector.model_reporters["completed"] = slow  # after "now", before "busy"
    course = components(model)[1 + PICTURES.index(drawings.course)][0]
    course(after(40, interval=20.0))  # which imports what draws
    course(model)  # as a page does before it can play

    def play():
        while not midway.is_set():
            model.step()

    playing = threading.Thread(target=play)
    playing.start()
    assert midway.wait(20)
    course(model)
    drawn.set()
    playing.join()
    assert len(model.datacollector.model_vars["busy"]) == 1


# Controls -----------------------------------------------------------------------------------------


def test_controls_are_of_what_a_scenario_sets():
    found = controls(QUICKSTART.changed(max_size=8, runtimes="exponential", jobs=120), 7)
    assert found["seed"] == {"type": "InputText", "value": "7", "label": "seed"}
    assert found["load"] == {
        "type": "SliderFloat", "value": 0.85, "min": 0.01, "max": 1.7, "step": 0.01, "label": "load"
    }  # fmt: skip
    jobs = found["jobs"]
    assert [jobs[key] for key in ("type", "min", "max", "step")] == ["SliderInt", 10, 240, 10]
    assert found["local_share"]["max"] <= 1.0
    assert controls(QUICKSTART.changed(population=50), 7)["population"]["min"] == 2
    assert controls(QUICKSTART.changed(threshold=0.9), 7)["threshold"]["max"] < 1.0
    assert found["runtimes"]["values"][0] == "bounded-pareto"
    assert {"muscle", "dll"} <= set(found["global_scheduler"]["values"])
    assert "service_classes" not in found


def test_a_log_has_no_sliders_of_synthetic_jobs(tmp_path):
    (tmp_path / "log.swf").write_text("1 0 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 -1 -1 -1\n")
    of_log = QUICKSTART.changed(workload=str(tmp_path / "log.swf"))
    found = [set(controls(each.changed(load_factor=2.0), 0)) for each in (QUICKSTART, of_log)]
    assert found[0] - found[1] >= {"load", "jobs"}
    assert found[1] - found[0] == {"load_factor"}


def test_a_model_is_made_as_its_controls_say():
    values = {name: each["value"] for name, each in controls(QUICKSTART, 3).items()}
    model, alone = model_class(QUICKSTART)(**values), QUICKSTART.model(3)
    for each in (model, alone):
        each.run()
    assert not model.refused
    of_both = [each.world.log.records().rows.tobytes() for each in (model, alone)]
    assert of_both[0] == of_both[1]
    fewer = model_class(QUICKSTART)(**values | {"jobs": 20})
    assert fewer.workload.count == 20
    assert model.chosen.startswith("seed 3, global scheduler muscle, local scheduler titan, ")
    assert ", jobs 20, " in fewer.chosen


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seed": "x"}, "seed: found 'x'; accepted: a whole number from 0"),
        ({"jobs": 0}, "jobs"),
        ({"local_scheduler": "dll"}, "it is a global one"),
    ],
)
def test_what_cannot_be_is_refused_and_the_scenario_stands_in(changes, why):
    model = model_class(QUICKSTART, 7)(**changes)
    assert why in model.refused
    assert "\n" not in model.refused
    assert model.workload.count == 400
    assert model.chosen.startswith("seed 7, ")


def test_what_a_run_notes_is_there_to_be_shown():
    model = model_class(Scenario.load("quickstart").changed(jobs=20, max_size=40))()
    assert any("jobs larger than 20 are rejected" in note for note in model.notes)


# The server ---------------------------------------------------------------------------------------


def test_a_port_in_use_is_refused_in_a_line():
    with listen(0) as taken, pytest.raises(GridError, match=r"^--port \d+: .*; accepted: a free"):
        listen(taken.getsockname()[1])
    with pytest.raises(GridError, match=r"^--port 80000: found no such port; accepted: a free one"):
        listen(80000)


def test_a_page_is_told_from_a_scenario(tmp_path):
    for name, text, wanted in (
        ("a.py", "x = 1\npage = SolaraViz(Model())\n", True),
        ("b.py", "scenario = Scenario()\nif page == 1: pass\n", False),
        ("c.toml", "page = 1\n", False),
    ):
        (tmp_path / name).write_text(text)
        assert has_page(str(tmp_path / name)) is wanted
    assert not has_page(str(tmp_path / "none.py"))

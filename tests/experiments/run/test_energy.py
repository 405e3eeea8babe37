"""Energy, cost and CO2 of runs, and the policy that goes by them."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest

from agents.disciplines import FcfsScheduler
from agents.energy.greenest import GreenestScheduler
from agents.model import GridModel
from experiments.run.running import run
from experiments.scenario.scenario import Scenario
from experiments.show.page import page_of
from experiments.show.run_data import Ran
from experiments.studies.study import Study
from grid.jobs import job_table
from grid.metrics.energy import Meter
from grid.metrics.of_run import period
from grid.platform.energy import EnergySettings, Power, Series
from grid.platform.multicluster import Platform
from grid.workloads.table import Table
from tests.experiments.commands import call
from tests.experiments.small_studies import Silent

NAMES = "energy_kwh", "cost", "co2_kg"
GRID = """
global = "first-fit"
local = "fcfs"
clusters = [{name = "A", size = 8}, {name = "B", size = 6, rate = 2.0}]
[parameters]
mode = "open"
jobs = 150
warmup = 20
max_size = 12
load = 0.8
computation_fraction = 0.9
bsbw = 100
idle_watts = 50
busy_watts = {A = 200, B = 300}
price = 0.3
carbon = {A = "a.csv", B = 90}
"""
HOURLY = [100.0 + 37.0 * (k % 7) for k in range(24)]


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    rows = "".join(f"{60 * k},{value}\n" for k, value in enumerate(HOURLY))
    (tmp_path / "a.csv").write_text("time,value\n" + rows)
    return tmp_path / "grid.toml"


def by_hand(result):
    """Return energy, cost and CO2 of each cluster, second by second but for the ends."""
    jobs, since = result.jobs, result.tally.counted_from
    end = jobs["finish"].max()
    found = []
    for name, size, busy in (("A", 8, 200.0), ("B", 6, 300.0)):
        parts = jobs["placement"].str.extract(rf"\b{name}:(\d+)")[0].fillna("0").astype(int)
        ends = np.concatenate([jobs["start"], jobs["finish"], [since, end]])
        times = np.unique(np.concatenate([ends, np.arange(0.0, end, 60.0)]).clip(since, end))
        totals = [0.0, 0.0, 0.0]
        for first, last in pairwise(times):
            middle = (first + last) / 2
            held = parts[(jobs["start"] <= middle) & (middle < jobs["finish"])].sum()
            drawn = (held * busy + (size - held) * 50.0) * (last - first) / 3.6e6
            carbon = HOURLY[int(middle // 60) % 24] if name == "A" else 90.0
            for kind, factor in enumerate((1.0, 0.3, carbon / 1000)):
                totals[kind] += drawn * factor
        found.append(totals)
    return found


def test_numbers_are_those_of_each_moment(grid):
    result = run(Scenario.load(grid), seed=3)
    wanted = by_hand(result)
    summary = result.summary()
    assert (result.jobs["placement"].str.contains("+", regex=False)).any()
    for cluster, of in zip(summary["clusters"], wanted, strict=True):
        assert [cluster[name] for name in NAMES] == pytest.approx(of)
    for name, totals in zip(NAMES, zip(*wanted, strict=True), strict=True):
        assert summary["metrics"][name] == pytest.approx(sum(totals))


@pytest.mark.thorough
def test_what_is_not_given_is_not_told(grid):
    metrics = run("quickstart").summary()["metrics"]
    assert [metrics[name] for name in NAMES] == [None] * 3
    got = call("run", "quickstart", "--no-live", "--set", "busy_watts=200")
    assert re.search(r"^energy +[\d,.]+ kWh", got.stdout, re.MULTILINE)
    assert "CO2" not in got.stdout
    assert "cost" not in got.stdout


def test_sums_are_the_same_bits_in_any_portions():
    result = run(Scenario.load("quickstart").changed(jobs=300))
    series = Series(HOURLY, 7.0)
    found = []
    for portion in (1, 7, 1000):
        meter = Meter([Power(10.0, 20.0, series, series)] * 4, result.platform.clusters)
        for first in range(0, len(result.records), portion):
            meter.add(result.records[first : first + portion], 50.0)
        over_time = meter.over_time(50.0, 500.0)
        found.append((meter.totals(50.0, 500.0), *(each.tobytes() for each in over_time.values())))
    assert found[0] == found[1] == found[2]


def test_steps_add_up_to_the_whole_and_are_those_of_each_moment(grid):
    result = run(Scenario.load(grid), seed=3)
    table = result.electricity
    assert 32 <= len(table) <= 64
    assert (table["from"].to_numpy()[1:] == table["to"].to_numpy()[:-1]).all()
    assert (table["from"].iat[0], table["to"].iat[-1]) == period(result.tally)
    for cluster in result.summary()["clusters"]:
        for name in NAMES:
            whole = cluster[name]
            assert table[f"{name} {cluster['name']}"].sum() == pytest.approx(whole, rel=1e-12)
    step = table.iloc[20]
    busy = math.fsum(
        sum(int(part.split(":")[1]) for part in job.placement.split("+") if part.startswith("A:"))
        * max(0.0, min(job.finish, step["to"]) - max(job.start, step["from"]))
        for job in result.jobs.itertuples()
    )
    idle = 8 * (step["to"] - step["from"]) - busy
    assert step["energy_kwh A"] == pytest.approx((200.0 * busy + 50.0 * idle) / 3.6e6)


def test_electricity_over_time_is_a_file_that_is_checked(grid, tmp_path):
    out = tmp_path / "out"
    assert call("run", grid, "--no-live", "--out", out).exit_code == 0
    path = out / "electricity.csv"
    text = path.read_text()
    assert text.startswith("from,to,energy_kwh A,cost A,co2_kg A,energy_kwh B,cost B,co2_kg B\n")
    head, first, second, *rest = text.splitlines()
    assert 'id="co2_kg"' in page_of([Ran.read(out)])
    cells = second.split(",")
    spoilt = [*cells[:2], str(float(cells[2]) * 1.001), *cells[3:]]
    path.write_text("\n".join([head, first, ",".join(spoilt), *rest, ""]))
    got = call("verify", out)
    assert got.exit_code == 1
    assert "electricity over time is right" in got.stdout
    told = (out / "summary.json").read_text()
    summary = json.loads(told)
    summary["clusters"][0]["cost"] = None  # as of a run without a price
    (out / "summary.json").write_text(json.dumps(summary))
    some = [",".join([*line.split(",")[:3], *line.split(",")[4:]]) for line in text.splitlines()]
    path.write_text("\n".join([*some, ""]))
    got = call("verify", out, "--json")
    assert got.exit_code == 1
    assert "cost A: nan from" in got.stdout
    (out / "summary.json").write_text(told)
    path.write_text("\n".join([head, first, ",".join(["0.5", *cells[1:]]), *rest, ""]))
    got = call("verify", out)
    assert got.exit_code == 2
    assert "electricity.csv:3: from: found 0.5; accepted: " in got.stderr
    assert call("run", "quickstart", "--no-live", "--out", out).exit_code == 0
    assert not path.exists()  # for it would be that of another run


def test_verify_works_them_out_again(grid, tmp_path):
    assert call("run", grid, "--no-live", "--out", tmp_path / "out").exit_code == 0
    assert call("verify", tmp_path / "out").exit_code == 0
    path = tmp_path / "out" / "summary.json"
    for name in NAMES:
        summary = json.loads(path.read_text())
        summary["clusters"][0][name] *= 1.001
        (tmp_path / "out" / "summary.json").write_text(json.dumps(summary))
        got = call("verify", tmp_path / "out", "--json")
        assert got.exit_code == 1
        assert f"clusters/0/{name}" in got.stdout
        summary["clusters"][0][name] /= 1.001
        path.write_text(json.dumps(summary))


@pytest.mark.thorough
def test_a_study_finds_files_from_its_own_folder(grid, tmp_path):
    (tmp_path / "study.toml").write_text(
        'scenario = "grid.toml"\nmetric = "co2_kg"\n[policies]\nglobal = ["ect", "greenest"]\n'
        'local = ["fcfs"]\n[set]\njobs = 30\nwarmup = 0\n'
        '[vary]\ncarbon = ["a.csv", 100]\n[replications]\nleast = 2\n'
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "found.db", 1, watch=Silent())
    assert outcome.points["co2_kg"].notna().all()
    assert len(outcome.points) == 4


def test_bad_input_is_a_line(grid):
    got = call("run", grid, "--no-live", "--set", "carbon=none.csv")
    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.splitlines()[-1].startswith("metasched: --set: carbon: none.csv: No such")
    got = call("run", grid, "--no-live", "--set", "busy_watts=-1")
    assert got.exit_code == 2
    assert "busy_watts: found -1; accepted: from 0" in got.stderr


# Greenest ---------------------------------------------------------------------------------------


def greenest(rows, settings=(), sizes=(4, 4, 4), rates=(1.0, 2.0, 0.5)):
    jobs = job_table(len(rows))
    for place, (arrival, size, runtime, deadline) in enumerate(rows):
        jobs["arrival"][place], jobs["size"][place] = arrival, size
        jobs["runtime"][place], jobs["deadline"][place] = runtime, deadline
    platform = Platform.star([*sizes], [*rates])
    model = GridModel(platform, Table(jobs), GreenestScheduler, FcfsScheduler, settings=settings)
    model.run()
    return np.sort(model.world.log.records().rows, order="number"), jobs


def chosen_by_hand(jobs, watts, carbon):
    """Return the cluster of each job: FCFS everywhere, each job tried on each cluster."""
    free_at = [[0.0] * 4 for _ in range(3)]
    chosen = []
    for job in jobs:
        offers = []
        for cluster, rate in enumerate((1.0, 2.0, 0.5)):
            free = sorted(free_at[cluster])
            begin = max(job["arrival"], free[job["size"] - 1])
            end = begin + job["runtime"] / rate
            steps = np.unique([begin, end, *np.arange(0.0, end, 40.0)]).clip(begin, end)
            grams = math.fsum(
                (last - first) * carbon[cluster][int((first + last) / 2 // 40) % 3]
                for first, last in pairwise(steps)
            )
            offers.append((end, watts[cluster] * job["size"] * grams, cluster, free))
        in_time = [offer for offer in offers if offer[0] <= job["deadline"]]
        best = min(in_time, key=lambda offer: offer[1]) if in_time else min(offers)
        end, _, cluster, free = best
        free[: job["size"]] = [end] * job["size"]
        free_at[cluster] = free
        chosen.append(cluster)
    return chosen


def test_the_fewest_grams_in_time():
    draws = np.random.default_rng(5)
    rows, now = [], 0.0
    for _ in range(60):
        now += float(draws.exponential(9.0))
        size, runtime = int(draws.integers(1, 5)), float(draws.uniform(5, 60))
        rows.append((now, size, runtime, now + runtime * float(draws.uniform(0.4, 6))))
    carbon = [[300.0, 50.0, 500.0], [210.0] * 3, [20.0, 400.0, 30.0]]
    kinds = [
        Power(50.0, busy, None, Series(of, 40.0))
        for busy, of in zip((150.0, 350.0, 90.0), carbon, strict=True)
    ]

    class OfSteps(GreenestScheduler):
        def __init__(self, model):
            super().__init__(model)
            model.energy = tuple(kinds)

    jobs = job_table(len(rows))
    for place, (arrival, size, runtime, deadline) in enumerate(rows):
        jobs["arrival"][place], jobs["size"][place] = arrival, size
        jobs["runtime"][place], jobs["deadline"][place] = runtime, deadline
    platform = Platform.star([4, 4, 4], [1.0, 2.0, 0.5])
    model = GridModel(platform, Table(jobs), OfSteps, FcfsScheduler)
    model.run()
    found = np.sort(model.world.log.records().rows, order="number")
    wanted = chosen_by_hand(jobs, (100.0, 300.0, 40.0), carbon)
    assert found["cluster"].tolist() == wanted
    assert len(set(wanted)) == 3
    assert (found["finish"] > jobs["deadline"]).any()


@pytest.mark.thorough
def test_without_carbon_it_goes_by_what_is_known():
    rows = [(0.0, 1, 10.0, 1000.0)]
    assert greenest(rows)[0]["cluster"].tolist() == [1]  # the fastest: fewest processor-seconds
    watts = EnergySettings(busy_watts={"C1": 100.0, "C2": 900.0, "C3": 10.0})
    assert greenest(rows, [watts])[0]["cluster"].tolist() == [2]
    got = call("run", "quickstart", "--global", "greenest", "--no-live")
    assert "no carbon intensity is given: GREENEST goes by processor-seconds" in got.stderr
    words = "run", "quickstart", "--global", "greenest", "--no-live", "--set", "busy_watts=9"
    assert "no carbon intensity is given: GREENEST goes by energy" in call(*words).stderr

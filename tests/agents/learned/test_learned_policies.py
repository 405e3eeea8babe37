"""Policies that were learned: what they weigh is what decides, and files say nothing else."""

from __future__ import annotations

import json
import math
import pickle

import numba
import numpy as np
import pytest

from agents.learned import choices, ranks
from agents.learned.policy import LearnedPolicy, Lessons, read
from agents.learned.units import Unit
from agents.registry import global_scheduler, local_scheduler
from experiments.run import run
from experiments.scenario.scenario import Scenario
from grid.errors import GridError
from grid.kernel.dtypes import SLOT
from grid.kernel.policies.policy_view import known_dtype
from grid.platform.multicluster import Platform
from tests.experiments.commands import call

GRID = Platform.star([4, 16, 8], rates=[1.0, 2.0, 0.5])


def outcome(**schedulers):
    given = {"jobs": 300, "max_size": 16, "load": 0.95, "mode": "open", "latency": 3.0}
    names = {"global_scheduler": "dll", "local_scheduler": "easy", **schedulers}
    jobs = run(Scenario("unequal", GRID, given, **names), seed=3).jobs
    return jobs.set_index("job").sort_index()[["start", "cluster"]]


def written(path, **policy):
    LearnedPolicy(**policy).write(path)
    return f"learned:{path}"


@pytest.mark.parametrize(("service", "twin"), [("head", "sjf"), ("easy", None)])
def test_the_shortest_first_is_one_of_the_ranks(tmp_path, service, twin):
    name = written(tmp_path / "p", agent="local", service=service, weights={"time": 1.0})
    if twin is None:

        class ShortestFirst(local_scheduler("easy")):
            priority = local_scheduler("sjf").priority

        twin = ShortestFirst
    assert outcome(local_scheduler=name).equals(outcome(local_scheduler=twin))


def test_the_least_load_is_one_of_the_scores(tmp_path):
    name = written(tmp_path / "p", agent="global", weights={"load": 2.0})
    assert outcome(global_scheduler=name).equals(outcome(global_scheduler="dll"))
    other = written(tmp_path / "q", agent="global", weights={"free": -1.0})
    assert not outcome(global_scheduler=other).equals(outcome(global_scheduler="dll"))


@pytest.mark.thorough
def test_each_term_of_a_rank_is_what_its_name_says():
    """Against the formula, term by term, for jobs of all kinds."""
    rng = np.random.default_rng(1)
    weights = {name: float(rng.normal()) for name in ranks.TERMS}
    units = network_of(rng, ranks.OF_UNITS)
    scheduler = ranks.ranking(weights, "head", units)

    class Job:
        def __init__(self):
            self.predicted_time = float(rng.exponential(5000.0))
            self.size = int(rng.integers(1, 500))
            self.arrival = float(rng.uniform(0.0, 1e6))

    for _ in range(20):
        job = Job()
        t, n = math.log(1.0 + job.predicted_time), math.log(job.size)
        terms = {
            "time": t,
            "size": n,
            "time-size": t * n,
            "time-time": t * t,
            "size-size": n * n,
            "arrival": job.arrival / 3600.0,
        }
        given = (np.array([each]) for each in (job.predicted_time, job.size, job.arrival))
        assert ranks.terms_of(*given)[0] == pytest.approx([*terms.values()], rel=1e-12)
        expected = sum(weights[name] * value for name, value in terms.items())
        expected += added_by(units, terms)
        assert rank_of(scheduler, job) == pytest.approx(expected, rel=1e-12)


def network_of(rng, terms):
    """Return units that read some terms."""
    draw = rng.normal
    return [Unit(draw(), draw(), {name: draw() for name in terms}) for _ in range(3)]


def added_by(units, terms):
    """Return what a network adds, written plainly."""
    found = [unit.bias + sum(w * terms[name] for name, w in unit.weights.items()) for unit in units]
    assert len(units) == 3
    return sum(unit.gain * max(0.0, each) for unit, each in zip(units, found, strict=True))


def rank_of(scheduler, job):
    """Return the rank of one job, compiled, as a kernel asks for it."""
    slots = np.zeros(1, SLOT)
    for name in ("predicted_time", "size", "arrival"):
        slots[name] = getattr(job, name)
    priority = scheduler.priority

    @numba.njit
    def asked(slots):
        return priority(slots[0], 0.0)

    return asked(slots)


def test_a_score_weighs_what_brokers_know():
    rng = np.random.default_rng(2)
    place = choices.LearnedChoice.place

    @numba.njit
    def asked(known, slots, memory):
        return place(known[0], slots[0], memory)

    known, slots = np.zeros(1, known_dtype(4)), np.zeros(1, SLOT)
    for _ in range(40):
        sizes = rng.integers(1, 64, 4)
        k = known[0]
        k["clusters"], k["size"], k["rate"] = 4, sizes, rng.uniform(0.5, 2.0, 4)
        k["up"] = np.maximum(0, sizes - rng.integers(0, 8, 4))
        k["free"], k["waiting"] = rng.integers(0, k["up"] + 1), rng.integers(0, 9, 4)
        k["load"] = rng.exponential(1e4, 4)
        slots["size"], slots["predicted_runtime"] = rng.integers(1, 32), rng.exponential(1e4)
        slots["origin"] = rng.integers(-1, 4)
        weights = rng.normal(size=len(choices.OF_CLONES))
        units = network_of(rng, choices.TERMS)
        numbers = choices.choosing(
            dict(zip(choices.OF_CLONES, weights, strict=True)), units
        ).weights
        size, runtime = slots["size"].item(), slots["predicted_runtime"].item()
        scores = {}
        for c in range(4):
            if k["up"][c] < size:
                continue
            time, load = runtime / k["rate"][c], k["load"][c]
            terms = {
                "time": math.log(1 + time),
                "load": math.log(1 + load),
                "time-load": math.log(1 + time + load),
                "waiting": math.log(1 + k["waiting"][c]),
                "free": k["free"][c] / k["size"][c],
                "fits": float(size <= k["free"][c]),
                "share": size / k["size"][c],
                "home": float(slots["origin"].item() == c),
            }
            assert [*terms] == [*choices.OF_CLONES]
            scores[c] = float(weights @ [*terms.values()]) + added_by(units, terms)
        expected = min(scores, key=scores.__getitem__) if scores else -1
        assert asked(known, slots, numbers) == expected


def test_files_say_what_was_learned(tmp_path):
    lessons = Lessons(scenario="site", metric="mean_wait", seed=4, logs={"ab": ((0.0, 7.0),)})
    policy = LearnedPolicy(
        agent="local", service="fpfs", weights={"time": 0.5, "arrival": -2.0}, lessons=lessons
    )
    policy.write(tmp_path / "p.json")
    assert read(tmp_path / "p.json") == policy
    assert policy.formula == "0.5 log t - 2 h"
    assert "units" not in json.loads((tmp_path / "p.json").read_text())
    network = network_of(np.random.default_rng(1), ranks.OF_UNITS)
    wider = policy.model_copy(update={"units": tuple(network)})
    wider.write(tmp_path / "wider.json")
    assert read(tmp_path / "wider.json") == wider
    assert wider.formula == "0.5 log t - 2 h + what a network of 3 units adds"
    kind = wider.scheduler()
    assert (pickle.loads(pickle.dumps(kind)).weights == kind.weights).all()
    assert wider.with_numbers(kind.weights).scheduler().weights.tolist() == kind.weights.tolist()
    found = local_scheduler(f"learned:{tmp_path / 'p.json'}")
    assert found is local_scheduler(f"learned:{tmp_path / 'p.json'}")
    assert found.lessons == lessons


ONE = {"gain": 1.0, "bias": 0.0, "weights": {"time": 1.0}}
GOOD = {"version": 1, "agent": "local", "service": "easy", "weights": {"time": 1.0}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: found 2; accepted: 1"),
        ({"agent": "both"}, "agent: found 'both'; accepted: 'global' or 'local'"),
        ({"agent": None}, "agent: found None; accepted: 'global' or 'local'"),
        ({"service": "timed"}, "service: found 'timed'; accepted: 'head', 'fpfs', 'easy' or"),
        ({"weights": {"time": "much"}}, "weights.time: found 'much'; accepted: a number"),
        ({"weights": {"time": 1e300}}, "weights.time: found 1e+300; accepted: at most 1e+09"),
        ({"weights": {"tim": 1.0}}, "weights: found 'tim'"),
        ({"weights": 3}, "weights: found 3; accepted: a table"),
        ({"units": [{"gain": 1.0}]}, "units.0.bias: missing; accepted: a policy that"),
        ({"units": [ONE | {"gain": 1e300}]}, "units.0.gain: found 1e+300; accepted: at most"),
        ({"units": [ONE | {"weights": {"arrival": 1.0}}]}, "units.0.weights: found 'arrival'"),
        ({"units": [ONE | {"more": 1.0}]}, "units.0.more: unknown key; accepted: a policy that"),
        ({"units": 3}, "units: found 3; accepted: a list"),
        (
            {"units": [ONE] * 257},
            "units: found [{'bias': 0.0, 'gain': 1.0, ...eights': "
            "{'time': 1.0}}, ...]; accepted: a list of at most 256",
        ),
        ({"agent": "global"}, "service: found with a global policy; accepted: without"),
        ({"wait": 3}, "wait: unknown key; accepted: a policy that"),
    ],
)
def test_other_files_are_refused_in_a_line(change, message, tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(GridError) as found:
        local_scheduler(f"learned:{path}")
    assert str(found.value).startswith(f"{path}: {message}"), found.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "accepted: a policy that"),
        ("[1]", "found [1]; accepted: a policy that"),
        ('{"weights": {}}', "agent: missing; accepted: a policy that"),
        ('{"weights": {"time": NaN}}', "found NaN; accepted: a policy that"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_line(text, message, tmp_path):
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(GridError, match=r"p\.json: ") as found:
        local_scheduler(f"learned:{tmp_path / 'p.json'}")
    assert message in str(found.value)


def test_a_local_policy_is_no_global_one(tmp_path):
    name = written(tmp_path / "p", agent="local", weights={})
    with pytest.raises(GridError, match="it is a local one; accepted: a global one"):
        global_scheduler(name)
    name = written(tmp_path / "q", agent="global", weights={})
    with pytest.raises(GridError, match="it is a global one; accepted: a local one"):
        local_scheduler(name)
    with pytest.raises(GridError, match="learned: found no file; accepted: learned:FILE"):
        local_scheduler("learned:")
    with pytest.raises(GridError, match=r"none\.json: No such file or directory; accepted"):
        local_scheduler("learned:none.json")


def test_a_policy_beside_a_scenario_is_found(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    written(tmp_path / "there" / "p.json", agent="local", weights={"time": 1.0})
    (tmp_path / "there" / "s.toml").write_text(
        'global = "dll"\nlocal = "learned:p.json"\n[[clusters]]\nname = "a"\nsize = 8\n'
        '[parameters]\nmode = "open"\njobs = 50\nmax_size = 8\n'
    )
    monkeypatch.chdir(tmp_path)
    found = call("run", "there/s.toml", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["jobs"]["completed"] == 50

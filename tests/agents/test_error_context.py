"""Errors of schedulers say whose they are, and when they came."""

from __future__ import annotations

import re
import traceback

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from agents.a4 import A4Broker
from agents.balancers import DynamicLeastLoadScheduler
from agents.disciplines import FcfsScheduler
from agents.error_context import blame_of
from agents.schedulers import GlobalScheduler, LocalScheduler, PlanningScheduler
from agents.view import KnownCluster
from grid.errors import GridError, PlacementError, PlatformError, WorkloadError

from .small_grids import model_of, ran, table


class OopsError(Exception):
    pass


def test_an_exception_of_a_plugin_names_the_agent_and_the_time():
    class Global(GlobalScheduler):
        def place(self, job):
            if job.number == 3:
                raise OopsError("three")
            return self.clusters[0]

    class Ranking(LocalScheduler):
        def priority(self, job):
            raise OopsError("three")

    class Planner(PlanningScheduler):
        def plan(self, jobs, release):
            raise OopsError("three")

    class Deaf(FcfsScheduler):
        def receive(self, message):
            raise OopsError("three")

    jobs = table((0, 1, 9.0), (1, 1, 9.0), (2.5, 1, 9.0))
    one = table((2.5, 1, 9.0))
    for global_, local, rows, name in (
        (Global, "fcfs", jobs, "GLOBAL"),
        (Global, "titan", jobs, "GLOBAL"),
        ("dll", Ranking, one, "RANKING C1"),
        ("muscle", Ranking, one, "RANKING C1"),
        ("dll", Planner, one, "PLANNER C1"),
        ("muscle", Deaf, one, "DEAF C1"),
    ):
        with pytest.raises(OopsError) as caught:
            ran(global_, local, rows)
        assert str(caught.value) == "three"
        assert caught.value.__notes__ == [f"raised by {name} at simulated time 2.5 s"]
        assert 'raise OopsError("three")' in "".join(traceback.format_exception(caught.value))


def test_a_compiled_function_that_reads_or_writes_beyond_an_array_is_told_so():
    @numba.njit
    def third(memory):
        return memory[2]

    @numba.njit
    def reads(known, job, memory):
        return int(third(memory))

    @numba.njit
    def writes(known, job, memory):
        memory[known.clusters + 2] = 1.0
        return 0

    for function in (reads, writes):
        made = type("Own", (GlobalScheduler,), {"place": function, "memory": lambda _: np.zeros(2)})
        with pytest.raises(IndexError) as caught:
            ran(made, "fcfs", table((0, 1, 9.0)))
        assert caught.value.__notes__[0].startswith("raised by OWN at simulated time 0 s")


def test_a_scheduler_that_is_made_of_something_else_is_told_of_what():
    class Alone(GlobalScheduler):
        def __init__(self):
            super().__init__(None)

    class OfMore(DynamicLeastLoadScheduler):
        def __init__(self, model, more):
            super().__init__(model)

    class WithoutCluster(FcfsScheduler):
        def __init__(self, model):
            super().__init__(model, None)

    class Defaults(DynamicLeastLoadScheduler):
        def __init__(self, *given, most=3):
            super().__init__(*given)

    for global_, local, says in (
        (Alone, "fcfs", "Alone: found __init__(self); accepted: __init__(self, model)"),
        (
            OfMore,
            "fcfs",
            "OfMore: found __init__(self, model, more); accepted: __init__(self, model)",
        ),
        (
            "dll",
            WithoutCluster,
            "WithoutCluster: found __init__(self, model); accepted: __init__(self, model, cluster)",
        ),
    ):
        with pytest.raises(GridError) as caught:
            model_of(global_, local)
        assert str(caught.value) == says
    model_of(Defaults, "fcfs")


class CompiledOops(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        if job.number == 3:
            raise ValueError("three")
        return 0


class CompiledRankOops(LocalScheduler):
    @numba.njit
    def priority(job, now):  # noqa: N805
        if job.number == 3:
            raise ValueError("three")
        return 0.0


class CompiledBoundOops(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        if known.free[0] < job.size:
            return -1
        known.take[0] = job.size
        return -2

    @numba.njit
    def largest(known, memory):  # noqa: N805
        if known.free[0] > 0:
            raise ValueError("three")
        return 0


class NoSuchField(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        return job.colour


class NoAddition(LocalScheduler):
    @numba.njit
    def priority(job, now):  # noqa: N805
        return job + "now"


def test_an_exception_of_a_compiled_plugin_names_the_agent_and_the_time():
    jobs = table((0, 8, 9.0), (1, 6, 9.0), (2.5, 4, 9.0))
    for global_, local, kind, name in (
        (CompiledOops, "fcfs", ValueError, "COMPILEDOOPS at simulated time 2.5 s"),
        (CompiledBoundOops, "fcfs", ValueError, "COMPILEDBOUNDOOPS at simulated time 9 s"),
        ("dll", CompiledRankOops, ValueError, "COMPILEDRANKOOPS C3 at simulated time 2.5 s"),
    ):
        with pytest.raises(kind) as caught:
            ran(global_, local, jobs)
        assert caught.value.__notes__ == [f"raised by {name}"]


def test_a_compiled_plugin_that_reads_no_field_is_told_which_there_are():
    read = "^NOSUCHFIELD at 0 s: compiled decision that reads the field 'colour' of a record; "
    with pytest.raises(PlacementError, match=read + "accepted: number, arrival, size, ") as caught:
        ran(NoSuchField, "fcfs")
    assert len(str(caught.value)) <= 300


def test_what_cannot_be_compiled_is_named_with_its_line():
    with pytest.raises(TypingError) as caught:
        ran("dll", NoAddition, table((0, 8, 9.0)))
    compiling, raised = caught.value.__notes__
    assert compiling.startswith(f"in compiling priority, {__file__}, line ")
    assert raised == "raised by NOADDITION C1 at simulated time 0 s"
    assert blame_of(caught.value) == [raised]


def test_an_exception_in_making_a_broker_names_its_class():
    class Broken(A4Broker):
        def __init__(self, *given):
            raise OopsError("broker")

    class Sends(DynamicLeastLoadScheduler):
        broker_class = Broken

    with pytest.raises(OopsError) as caught:
        ran(Sends, "fcfs", table((0, 8, 9.0)))
    assert blame_of(caught.value) == ["raised in making Broken, before the run"]


def test_an_exception_of_the_workload_is_nobodys():
    class Broken:
        def chunks(self):
            yield table((0, 1, 1.0)).jobs
            raise WorkloadError("line 7: no number")

    with pytest.raises(WorkloadError) as caught:
        ran("dll", "fcfs", Broken())
    assert str(caught.value) == "line 7: no number"


OTHER = model_of("dll", "fcfs")


@pytest.mark.parametrize(
    "answer",
    [
        {"C9": 2},
        {},
        {"C1": 9},
        {"C1": -2, "C2": 4},
        {"C1": 1},
        {"C1": 2, "C2": 1},
        {"C1": 2.0},
        {"C1": "2"},
        {0: 2},
        1,
        0.0,
        True,
        "C1",
        ["C1"],
        OTHER.scheduler.clusters[0],
        KnownCluster,
        OTHER.clusters[0],
    ],
    ids=lambda answer: str(answer).split(" object at ")[0],
)
def test_an_impossible_placement_is_one_line_naming_agent_and_time(answer):
    class Wrong(GlobalScheduler):
        def place(self, job):
            return answer

    check_refused(Wrong, "fcfs", "WRONG at 2.5 s: placement of job 7", size=2)


class TooSmall(GlobalScheduler):
    def place(self, job):
        return self.clusters[2]


class Nowhere(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        return 3


class TakesTooMany(GlobalScheduler):
    @numba.njit
    def place(known, job, memory):  # noqa: N805
        known.take[:] = 0
        known.take[0] = job.size
        known.take[5] = 1
        return -2


class NotANumber(LocalScheduler):
    def priority(self, job):
        return float("nan")


class Words(LocalScheduler):
    def priority(self, job):
        return "first"


class NothingAtAll(LocalScheduler):
    def priority(self, job):
        return None


class CompiledNan(LocalScheduler):
    @numba.njit
    def priority(job, now):  # noqa: N805
        return np.nan


class NoPlan(PlanningScheduler):
    pass


class NoPlace(GlobalScheduler):
    pass


class Misspelt(GlobalScheduler):
    def plase(self, job):
        return None


class MisspeltLocally(LocalScheduler):
    def Priority(self, job):  # noqa: N802
        return 0.0


class Forgetful(GlobalScheduler):
    def place(known, job, memory):  # noqa: N805
        return 0


def planner(answer):
    class Planner(PlanningScheduler):
        def plan(self, jobs, release):
            return answer(jobs)

    return Planner


def test_a_compiled_decision_that_is_not_compiled_is_refused():
    words = "Forgetful: place: found place(known, job, memory), not compiled; accepted: with @numba"
    with pytest.raises(GridError, match=f"^{re.escape(words)}"):
        ran(Forgetful, "fcfs")


@pytest.mark.parametrize(
    ("global_", "local", "words"),
    [
        (TooSmall, "fcfs", "TOOSMALL at 2.5 s: placement of job 7 (size 5): C3, which has 4"),
        (Nowhere, "fcfs", "NOWHERE at 2.5 s: placement of job 7 (size 5): cluster 3"),
        (TakesTooMany, "fcfs", "TAKESTOOMANY at 2.5 s: placement of job 7"),
        ("dll", NotANumber, "NOTANUMBER C1 at 2.5 s: priority of job 7"),
        ("muscle", NotANumber, "NOTANUMBER C1 at 2.5 s: priority of job 7"),
        ("dll", CompiledNan, "COMPILEDNAN C1 at 2.5 s: priority of job 7"),
        ("dll", Words, "WORDS C1 at 2.5 s: priority of job 7: 'first'"),
        ("dll", NothingAtAll, "NOTHINGATALL C1 at 2.5 s: priority of job 7: None"),
        ("dll", planner(lambda jobs: [*jobs, jobs[0]]), "PLANNER C1 at 2.5 s: plan: Job(7"),
        ("dll", planner(lambda jobs: []), "PLANNER C1 at 2.5 s: plan without Job(7"),
        ("dll", planner(lambda jobs: [0]), "PLANNER C1 at 2.5 s: plan: 0"),
        ("dll", planner(lambda jobs: None), "PLANNER C1 at 2.5 s: plan: None"),
        ("dll", planner(lambda jobs: jobs[0]), "PLANNER C1 at 2.5 s: plan: Job(7"),
        ("dll", planner(set), "PLANNER C1 at 2.5 s: plan: {Job(7"),
        ("muscle", planner(lambda jobs: []), "PLANNER C1 at 2.5 s: plan without Job(7"),
    ],
)
def test_an_impossible_decision_is_one_line_naming_agent_and_time(global_, local, words):
    check_refused(global_, local, words)


@pytest.mark.parametrize(
    ("global_", "local", "words"),
    [
        (NoPlace, "fcfs", "NoPlace: no method `place`"),
        (Misspelt, "fcfs", "Misspelt: no method `place`; found `plase`"),
        ("dll", MisspeltLocally, "MisspeltLocally: no method `priority`; found `Priority`"),
        ("muscle", NoPlan, "NoPlan: no method `plan`"),
    ],
)
def test_a_method_that_will_be_asked_for_is_missed_before_the_run(global_, local, words):
    with pytest.raises(GridError, match=f"^{words}$"):
        model_of(global_, local, table((2.5, 5, 9.0)))


def check_refused(global_, local, words, size=5):
    jobs = table((2.5, size, 9.0))
    jobs.jobs["number"] = 7
    model = model_of(global_, local, jobs)
    with pytest.raises(PlacementError) as caught:
        model.run()
    message = str(caught.value)
    assert message.startswith(words)
    assert message.count(" at 2.5 s") == 1
    assert "\n" not in message
    assert "accepted" in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_an_error_of_the_grid_that_a_plugin_meets_keeps_its_kind():
    class Asks(GlobalScheduler):
        def place(self, job):
            return self.clusters[self.model.world.platform.index("C7")]

    with pytest.raises(PlatformError, match=r"^ASKS at 1 s: cluster 'C7': unknown; accepted: C1"):
        ran(Asks, "fcfs", table((1.0, 1, 1.0)))


class WithoutJob(GlobalScheduler):
    def place(self):
        return self.clusters[0]


def test_a_call_that_cannot_be_made_names_the_class_that_it_is_of():
    with pytest.raises(TypeError) as caught:
        model_of(WithoutJob, "fcfs", table((2.5, 1, 9.0))).run()
    (note,) = blame_of(caught.value)
    assert note.endswith(", WithoutJob of test_error_context.py")

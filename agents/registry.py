"""Schedulers and predictors by name: built in, of packages, or one's own as ``module:Class``."""

from __future__ import annotations

from functools import cache
from inspect import isroutine
from types import ModuleType
from typing import Any, TypeVar

from agents.importing import check_no_path, classes_in, instead_of, module_of
from agents.learned import LEARNED
from agents.pace.predictor import Predictor
from agents.protocols import NamedAgent
from agents.schedulers import GlobalScheduler, LocalScheduler, Scheduler
from grid.errors import GridError
from grid.foreign import quoted
from grid.names import meant, nearest
from grid.settings import called, check_kind, declared

GLOBAL = {
    "muscle": "agents.muscle.scheduler:MuscleScheduler",
    "dll": "agents.balancers:DynamicLeastLoadScheduler",
    "wrand": "agents.balancers:WeightedRandomScheduler",
    "round-robin": "agents.balancers:RoundRobinScheduler",
    "ect": "agents.balancers:EarliestCompletionScheduler",
    "greenest": "agents.energy.greenest:GreenestScheduler",
    "home": "agents.balancers:HomeScheduler",
    "a4": "agents.a4.discovery:DiscoveryScheduler",
    "no-share": "agents.coallocation.single_cluster:NoShareScheduler",
    "migration-only": "agents.coallocation.single_cluster:MigrationOnlyScheduler",
    "first-fit": "agents.coallocation.largest_first:FirstFitScheduler",
    "ideal": "agents.coallocation.largest_first:IdealScheduler",
    "fixed-penalty": "agents.coallocation.largest_first:FixedPenaltyScheduler",
    "a1": "agents.coallocation.satisfy:SatisfyScheduler",
    "b1": "agents.coallocation.largest_first:LargestFreeFirstScheduler",
    "b2": "agents.coallocation.least_saturated:LeastSaturatedFirstScheduler",
    "b3": "agents.coallocation.largest_first:ChunkingScheduler",
    "b4": "agents.coallocation.balancing:LoadBalancingScheduler",
    "adaptive": "agents.coallocation.adaptive:AdaptiveScheduler",
    "oas": "agents.oas.scheduler:OasScheduler",
    "wf": "agents.queueing.fitting:WorstFitScheduler",
    "ff": "agents.queueing.fitting:FirstFitComponentsScheduler",
    "ordered": "agents.queueing.fitting:OrderedRequestsScheduler",
    "gs": "agents.queueing.gs:GlobalQueuePolicy",
    "ls-or": "agents.queueing.ls:LocalQueuesInOrder",
    "ls-rd": "agents.queueing.ls:LocalQueuesAtRandom",
    "ls-ro": "agents.queueing.ls:LocalQueuesAsReleased",
    "ls-do": "agents.queueing.ls:LocalQueuesAsDisabled",
    "gp": "agents.queueing.gp:GlobalPriorityPolicy",
    "lp-lf": "agents.queueing.lp:LocalPriorityLocalFirst",
    "lp-gf": "agents.queueing.lp:LocalPriorityGlobalFirst",
    "lp-rd": "agents.queueing.lp:LocalPriorityAtRandom",
    "eq-lf": "agents.queueing.eq:EqualLocalFirst",
    "eq-gf": "agents.queueing.eq:EqualGlobalFirst",
    "eq-rd": "agents.queueing.eq:EqualAtRandom",
    "lq": "agents.queueing.lq:LongestQueuePolicy",
}
"""Built-in global schedulers."""

LOCAL = {
    "titan": "agents.titan.scheduler:TitanScheduler",
    "fcfs": "agents.disciplines:FcfsScheduler",
    "fpfs": "agents.disciplines:FpfsScheduler",
    "sjf": "agents.disciplines:SjfScheduler",
    "ljf": "agents.disciplines:LjfScheduler",
    "fair-share": "agents.disciplines:FairShareScheduler",
    "easy": "agents.disciplines:EasyScheduler",
    "conservative": "agents.disciplines:ConservativeScheduler",
    "recorded": "agents.disciplines:RecordedScheduler",
    "slurm": "agents.slurm.controller:SlurmScheduler",
}
"""Built-in local schedulers."""

PREDICTORS = {
    "exact": "agents.pace.built_in:Exact",
    "requested": "agents.pace.built_in:Requested",
    "learned": "agents.pace.built_in:Learned",
    "pace": "agents.pace.built_in:Models",
}
"""Built-in predictors of run times."""

OF_SCRIPTS = "__main__", "<run_path>"
"""Modules of scripts that were run, in which others could not find a class."""

GROUP = "metasched.schedulers"
"""The entry points by which an installed package gives its schedulers names."""

OWN = "accepted: " + ", ".join(PREDICTORS) + ", or module:Class"

_WORDS: dict[type, str] = {
    GlobalScheduler: "global scheduler",
    LocalScheduler: "local scheduler",
    Predictor: "predictor",
}

T = TypeVar("T")

LISTED = "`metasched policies` lists them; or module:Class"


@cache
def installed() -> dict[str, str]:
    """Return the schedulers of installed packages, each as ``module:Class``, by name.

    Names of built-in ones are not theirs to give.
    """
    from importlib.metadata import entry_points  # of which looking a name up here has no need

    found = {each.name: each.value for each in entry_points(group=GROUP)}
    return {name: found[name] for name in sorted(found.keys() - GLOBAL.keys() - LOCAL.keys())}


def is_name(name: str, built_in: dict[str, str]) -> bool:
    """Tell whether a name may be a scheduler's: of those built in, of a package, or a class."""
    return name in built_in or ":" in name or name in installed()


def global_scheduler(name: str) -> type[GlobalScheduler]:
    """Return the class of a global scheduler.

    Parameters
    ----------
    name : str
        A key of `GLOBAL` or of `installed`, or ``module:Class`` with the module importable from
        the current folder.

    Raises
    ------
    GridError
        If there is none of that name, or it is no `GlobalScheduler`.
    """
    return _load(name, GLOBAL, GlobalScheduler)


def local_scheduler(name: str) -> type[LocalScheduler]:
    """Return the class of a local scheduler, as `global_scheduler` does for the other kind."""
    return _load(name, LOCAL, LocalScheduler)


def predictor(name: str) -> type[Predictor]:
    """Return the class of a predictor: a key of `PREDICTORS` or ``module:Class``.

    Raises
    ------
    GridError
        If there is none of that name, or it is no `Predictor`.
    """
    if name not in PREDICTORS and ":" not in name and classes_in(name.removesuffix(".py")) is None:
        raise GridError(f"prediction: found {quoted(name)}; {meant(name, PREDICTORS, OWN)}")
    return _load(name, PREDICTORS, Predictor)


def anyone(name: str) -> type[Scheduler] | type[Predictor]:
    """Return the class of a scheduler of either kind, or of a predictor, by its name."""
    found: Any = _load(name, GLOBAL | LOCAL | PREDICTORS, NamedAgent)
    return found


def any_scheduler(name: str) -> type[Scheduler]:
    """Return the class of a scheduler of either kind, as `global_scheduler` does."""
    return _load(name, GLOBAL | LOCAL, Scheduler)


def _load(name: str, known: dict[str, str], base: type[T]) -> type[T]:
    target = known.get(name) or (name if ":" in name else installed().get(name, name))
    module_name, separator, class_name = target.partition(":")
    kind = _WORDS.get(base, "scheduler")
    if separator and module_name == LEARNED:
        return _learned(name, class_name, base)
    own = None if separator else classes_in(name.removesuffix(".py"))
    if own is not None:
        accepted = f"{name.removesuffix('.py')}:Class, {_subclass(base).removeprefix('accepted: ')}"
        seen = f"; classes there: {', '.join(own)}" if own else ""
        raise GridError(f"{kind} {quoted(name)}: found a module alone; accepted: {accepted}{seen}")
    if separator or module_name.endswith(".py"):
        check_no_path(kind, name, module_name)
    if not separator or module_name[:1] in ("", "."):
        of_others = (GLOBAL | LOCAL).keys() - known.keys()
        if name in of_others:
            level, option = ("local", "--local") if name in LOCAL else ("global", "--global")
            raise GridError(f"{kind} {quoted(name)}: it is a {level} one: {option}; {LISTED}")
        likely = meant(name, (*known, *installed()), LISTED)
        if likely == LISTED and (near := nearest(name, of_others, most=1)):
            likely = (
                f"did you mean {'--local' if near[0] in LOCAL else '--global'} {near[0]}? {LISTED}"
            )
        raise GridError(f"{kind} {quoted(name)}: unknown; {likely}")
    module = module_of(kind, name, module_name)
    if not hasattr(module, class_name):
        there = _schedulers_of(module, base)
        raise GridError(
            f"{kind} {name!r}: module {module_name!r} has no {class_name!r}"
            f"{instead_of(module_name)}; "
            + (meant(class_name, there) if there else _subclass(base))
        )
    found: Any = getattr(module, class_name)
    good = isinstance(found, type) and issubclass(found, _kinds(base))
    if not good:
        raise GridError(
            f"{kind} {name!r}: {module_name}.{class_name} is {_what(found)}; {_subclass(base)}"
        )
    return found


def _learned(name: str, path: str, base: type[T]) -> type[T]:
    """Return the class of a scheduler that was learned, by the path of its file."""
    from agents.learned.policy import learned_scheduler  # which few have

    kind, found = _WORDS.get(base, "scheduler"), learned_scheduler(path)
    if not issubclass(found, base):
        of, other = (each.partition(" ")[0] for each in (_WORDS[base], _other(base)))
        raise GridError(f"{kind} {quoted(name)}: it is a {other} one; accepted: a {of} one")
    return found


def _other(base: type) -> str:
    return next(words for kind, words in _WORDS.items() if kind not in (base, Predictor))


def _kinds(base: type) -> tuple[type, ...]:
    """Return the kinds of schedulers and predictors that a class stands for."""
    return tuple(kind for kind in _WORDS if issubclass(kind, base))


def _what(found: object) -> str:
    """Return in words what was found where a class of another kind was asked for."""
    if isinstance(found, type):
        words = (words for kind, words in _WORDS.items() if issubclass(found, kind))
        return f"a {next(words, 'class of another kind')}"
    return "a function" if isroutine(found) else quoted(found)


def _subclass(base: type) -> str:
    *others, last = (f"metasched.{kind.__name__}" for kind in _kinds(base))
    return f"accepted: a subclass of {', '.join(others)}{' or ' if others else ''}{last}"


def _schedulers_of(module: ModuleType, base: type) -> list[str]:
    """Return the names of the schedulers of a kind that a module itself defines."""
    return [
        name
        for name, found in vars(module).items()
        if isinstance(found, type)
        and issubclass(found, _kinds(base))
        and found.__module__ == module.__name__
    ]


def name_of(given: str | type) -> str:
    """Return the name of a scheduler or predictor as a user gives it."""
    if isinstance(given, str):
        return given
    of_script = given.__module__ in OF_SCRIPTS
    return given.__qualname__ if of_script else f"{given.__module__}:{given.__qualname__}"


def summary(target: type) -> str:
    """Return the first line of a scheduler's description."""
    return (target.__doc__ or "").strip().partition("\n")[0]


def kinds_of(*schedulers: type[Scheduler]) -> tuple[Any, ...]:
    """Return what schedulers can be set to, each kind once; may raise `GridError`."""
    for each in schedulers:
        if each.settings_type is not None:
            check_kind(f"{called(each)}.settings_type", each.settings_type)
    return tuple(dict.fromkeys(kind for each in schedulers for kind in each.settings_kinds()))


@cache
def built_in_kinds() -> tuple[Any, ...]:
    """Return what the built-in schedulers can be set to."""
    return kinds_of(*map(any_scheduler, (*GLOBAL, *LOCAL)))


@cache
def readers(name: str) -> tuple[str, ...]:
    """Return the built-in schedulers that a parameter of this name sets."""
    return tuple(
        each
        for each in (*GLOBAL, *LOCAL)
        if any(name in declared(kind) for kind in kinds_of(any_scheduler(each)))
    )

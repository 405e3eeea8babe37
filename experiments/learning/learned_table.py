"""What was learned, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod

from agents.learned import ranks
from agents.learned.policy import LearnedPolicy
from experiments.events.words import ordinal
from experiments.learning.comparison import BEGUN
from experiments.learning.learning import EVOLUTION, Learned
from experiments.show.labels import heading, label, scale_of, scale_of_difference, told
from experiments.show.numbers import counted, percent
from experiments.show.tables import print_rows

if TYPE_CHECKING:
    from experiments.learning.cloning import Cloned  # with what environments need


def print_learned(found: Learned, path: str, console: Console) -> None:
    """Print a policy that was learned, and how it did on runs that were held out."""
    _print_formula(found.policy, console)
    lessons, of = found.lessons, "window" if found.lessons.windows else "run"
    several = counted(len(lessons.training), of)
    evolved = found.method == EVOLUTION
    made = f"{counted(found.steps, 'job' if evolved else 'choice')} were "
    made += "scheduled" if evolved else "taken"
    turns = counted(found.turns, "generation" if evolved else "update")
    best = f"of which the {ordinal(found.best_turn)} found the best"
    best = best if found.best_turn else "which found nothing better"
    console.print(
        f"learned from {several} of {counted(lessons.jobs, 'job')} together, in which {made}: "
        f"{label(found.metric)} {told(found.metric, found.before)} as it began, "
        f"{told(found.metric, found.after)} after {turns}, {best}",
        highlight=False,
    )
    local = found.policy.agent == "local"
    begun = "shortest first, with the same service" if local else "lowest log(1 + t + l)"
    _print_compared(found, f"; {BEGUN}: {begun}", path, console)


def print_cloned(found: Cloned, path: str, console: Console) -> None:
    """Print a policy that was cloned, how often it decides as its teacher, and how it did."""
    _print_formula(found.policy, console)
    of = "window" if found.lessons.windows else "run"
    several = counted(len(found.lessons.training), of)
    console.print(
        f"cloned from {counted(found.decisions, 'decision')} of {found.teacher} in {several}: it "
        f"decides alike in {percent(found.agreed)} of them, and in "
        f"{percent(found.agreed_held_out)} of those of {of}s that were held out, where "
        f"{percent(found.same_starts)} of the jobs start when and where they do under "
        f"{found.teacher}",
        highlight=False,
    )
    _print_compared(found, "", path, console)


def _print_formula(policy: LearnedPolicy, console: Console) -> None:
    what = "rank of a job" if policy.agent == "local" else "score of a cluster"
    console.print(f"{what}: {policy.formula}", highlight=False, markup=False)
    first = "one that came first" if policy.agent == "local" else "first of the platform"
    told = f"of equals, the {first}" if policy.formula == "0" else f"{policy.symbols}; the lowest"
    how = ""
    if policy.agent == "local":
        how = f"; jobs start in the way of {ranks.SERVICES[policy.service].called()}"
    console.print(f"({told} goes first{how})", highlight=False, markup=False)


def _print_compared(found: Learned | Cloned, also: str, path: str, console: Console) -> None:
    """Print how a policy and others did on runs that were held out, and how to use it."""
    lessons, of = found.lessons, "window" if found.lessons.windows else "run"
    held_out = counted(len(lessons.held_out), of)
    means = [found.held_out, *(each.mean for each in found.others)]
    scale = scale_of(found.metric, means)
    apart = scale_of_difference(found.metric, scale)
    unit = f", {apart.unit}" if apart.unit else ""
    console.print(f"on {held_out} that {of_number(len(lessons.held_out))} held out:")
    numbers = heading(found.metric, scale), f"learned minus that{unit}", f"better in {of}s"
    rows = [("learned", scale.told(found.held_out), "", "", "")]
    for each in found.others:
        interval = apart.told(each.difference.mean, each.difference.half_width)
        verdict = "better" if each.learned_is_better else "worse"
        unsure = "not surely either" if each.differences.any() else "the same in each"
        verdict = verdict if each.surely else unsure
        often = f"{each.better} of {len(lessons.held_out)}"
        rows.append((each.name, scale.told(each.mean), interval, often, verdict))
    right: dict[str, JustifyMethod] = dict.fromkeys(numbers, "right")
    print_rows({"": "left", **right, "learned is": "left"}, rows, console)
    console.print(
        f"± 95 % interval of each difference alone; better or worse: surely, all pairs together"
        f"{also}. Other logs, loads and sites are other questions.",
        highlight=False,
    )
    use = f"to use it: --{found.policy.agent} learned:{path}"
    console.print(use, highlight=False, markup=False, soft_wrap=True)


def of_number(count: int) -> str:
    """Return the verb for a number of things."""
    return "was" if count == 1 else "were"

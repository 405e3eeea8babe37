"""Schedules that avoid saturated links and that ignore links, run by the grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from agents.oas import Answer, Instance
from agents.oas.replay import Replayed, replay, without_limits
from experiments.show.numbers import percent, time_scale

if TYPE_CHECKING:
    from rich.console import Console


_ROUNDING = 1e-9


@dataclass(frozen=True)
class Comparison:
    """A schedule that avoids saturation, and one of the same method that takes no heed of links.

    Attributes
    ----------
    planned : float
        Makespan as planned, seconds.
    went, went_regardless : Replayed
        What becomes of the schedules on links that may be saturated.
    regardless : Answer
        That takes no heed of links.
    """

    planned: float
    went: Replayed
    regardless: Answer
    went_regardless: Replayed

    @property
    def planned_regardless(self) -> float:
        """Makespan as planned of the schedule that takes no heed of links, seconds."""
        assert self.regardless.makespan is not None
        return self.regardless.makespan

    @property
    def saving(self) -> float:
        """Share of the other makespan by which the one without saturation is shorter, if above 0.

        Heuristics may find either by chance: it need not be due to what saturation did.
        """
        return 1 - self.went.makespan / self.went_regardless.makespan

    @property
    def lengthened(self) -> float:
        """Share of its makespan as planned by which saturation lengthened the other schedule."""
        longer = self.went_regardless.makespan / self.planned_regardless - 1
        return 0.0 if longer < _ROUNDING else longer

    @property
    def nothing_saturated(self) -> bool:
        """Whether links slow down no job and cost nothing, avoided or ignored."""
        return abs(self.saving) < _ROUNDING and self.went_regardless.slowdown < 1 + _ROUNDING

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison, ready for JSON."""
        return {
            "makespan": self.went.makespan,
            "slowdown": self.went.slowdown,
            "links_ignored": {
                "status": self.regardless.status,
                "planned": self.planned_regardless,
                "bound": self.regardless.bound,
                "makespan": self.went_regardless.makespan,
                "slowdown": self.went_regardless.slowdown,
            },
            "saving": self.saving,
        }


def compare(instance: Instance, answer: Answer, method: Callable[[Instance], Answer]) -> Comparison:
    """Replay an answer, and what the same method answers if no link limits it.

    Parameters
    ----------
    instance : Instance
    answer : Answer
        With a schedule.
    method : callable
        Answers an instance.
    """
    regardless = method(without_limits(instance))
    assert answer.makespan is not None
    return Comparison(
        answer.makespan,
        replay(instance, answer.schedule),
        regardless,
        replay(instance, regardless.schedule),
    )


def print_comparison(found: Comparison, console: Console) -> None:
    """Print both schedules as planned and as they went."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    scale = time_scale(max(found.planned, found.went.makespan, found.went_regardless.makespan))
    planned_in, went_in = f"planned, {scale.unit}", f"went, {scale.unit}"
    for head in ("replayed, links shared", planned_in, went_in, "slowdown of jobs"):
        table.add_column(head, justify="left" if head.startswith("rep") else "right")
    for name, planned, went in (
        ("no link saturated", found.planned, found.went),
        ("links ignored", found.planned_regardless, found.went_regardless),
    ):
        table.add_row(name, scale.told(planned), scale.told(went.makespan), f"{went.slowdown:.3f}")
    console.print()
    console.print(table)
    if found.nothing_saturated:
        console.print("no link is saturated either way: there is nothing to avoid")
        return
    console.print(f"no link saturated: {_beside(found.saving)}")
    by = f"{percent(found.lengthened)} longer" if found.lengthened else "no longer"
    console.print(f"links ignored: saturation made the makespan {by} than planned")


def _beside(saving: float) -> str:
    """Return how the makespan of a schedule compares with that of one that ignores links."""
    if abs(saving) < _ROUNDING:
        return "makespan as long as with links ignored"
    what = "shorter" if saving > 0 else "longer"
    return f"makespan {percent(abs(saving))} {what} than with links ignored"

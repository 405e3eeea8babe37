"""How TITAN searches, and the ranges of what it can be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.muscle.moulding import MouldingSettings
from grid.errors import GridError
from grid.metrics.performance import check_idle, check_weights
from grid.settings import setting


@dataclass(frozen=True)
class Settings(MouldingSettings):
    """How TITAN searches.

    What is not published to scenarios is set in Python; weights and idle-time are the
    grid's (`grid.metrics.performance.Criteria`).

    Raises
    ------
    GridError
        For a value outside its range.
    """

    group = "TITAN"

    coding: str = setting(
        "order",
        "The order of the jobs, each on the processors free first; or the paper's coding, with "
        "processors for each job, which searches far worse.",
        choices=("order", "two-dimensional"),
    )
    execution: str = setting(
        "starts",
        "What of a plan in the two-dimensional coding is carried out: its order of starts, on any "
        "processors that are free; or its processors, for which each job waits.",
        choices=("starts", "processors"),
    )
    population: int = setting(50, "Schedules in a generation.", least=2, most=100_000)
    moves: int = setting(
        50_000,
        "Orders that a local search tries when breeding has stalled, which goes on from what it "
        "finds. The two-dimensional coding has none, nor have given generations.",
        least=0,
        published=False,
    )
    patience: int = setting(
        500,
        "Generations without an improvement after which breeding has stalled; the paper stops "
        "when two generations differ by less than a threshold: that is 1, without moves.",
        least=1,
        most=1_000_000_000,
    )
    threshold: float = setting(
        1e-4,
        "Least relative decrease of CP that counts as an improvement.",
        least=0,
        below=1,
    )
    generations: int | None = setting(
        None,
        "Most generations after the first, of the genetic algorithm alone; None: by effort.",
        least=0,
        published=False,
    )
    effort: int = setting(
        12_000_000,
        "Most jobs placed in one search (population x jobs x generations, and moves x jobs): it "
        "bounds the time for long queues. A million take 15 to 30 ms.",
        least=1,
        published=False,
    )
    elite: float = setting(
        0.4,
        "Share of the population that survives unchanged, at least one: the best orders, one for "
        "each distinct CP.",
        least=0,
        below=1,
        published=False,
    )
    crossover: float = setting(
        0.3, "Probability that a pair is crossed.", least=0, most=1, published=False
    )
    mutation: float = setting(
        1.0, "Probability that a child is mutated.", least=0, most=1, published=False
    )
    start: str = setting(
        "list",
        "TITAN without a seed schedule starts from its last plan and, behind it, jobs that "
        "landed since, or at random.",
        choices=("list", "random"),
    )
    weights: Sequence[float] = setting(
        (4.0, 3.0, 1.0), "Of eq. 1.", symbol="Wo, Wm, Wi", published=False
    )
    idle: str = setting("total", "Reading of idle-time, total or mean.", published=False)

    def __post_init__(self) -> None:
        check_weights(self.weights)
        check_idle(self.idle)
        super().__post_init__()
        if self.execution == "processors" and self.coding == "order":
            raise GridError(
                "execution: found 'processors' with coding = 'order', which names none; accepted "
                "with it: 'starts'"
            )
        if self.mouldable and self.coding == "two-dimensional":
            raise GridError(
                "mouldable: found true with coding = 'two-dimensional', which has a set of "
                "processors for each job; accepted with it: false"
            )

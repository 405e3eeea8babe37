"""The maximal utilizations of the policies of `queues` in the cases of Table 1.

They are what `metasched reproduce queues --table saturation` finds.
"""

from __future__ import annotations

from dataclasses import dataclass

POLICIES = (
    *("gs", "ls-or", "ls-rd", "ls-ro", "ls-do", "gp"),
    *("lp-lf", "lp-gf", "lp-rd", "eq-lf", "eq-gf", "eq-rd", "lq"),
)


@dataclass(frozen=True)
class Case:
    """A row of Table 1.

    Attributes
    ----------
    composition : tuple of int
        Percent of jobs with 1, 2, 3 and 4 components.
    balanced : bool
        Local queues get equally many jobs; else the first one gets 40 % and the others 20 % each.
    """

    composition: tuple[int, ...]
    balanced: bool = True

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.composition))}){'' if self.balanced else ', unbalanced'}"


SATURATION: dict[Case, dict[str, tuple[float, float]]] = {
    Case((25, 25, 25, 25)): {
        "gs": (0.8750, 0.9141),
        "ls-or": (0.8906, 0.9219),
        "ls-rd": (0.8984, 0.9375),
        "ls-ro": (0.8984, 0.9375),
        "ls-do": (0.9062, 0.9453),
        "gp": (0.8828, 0.9062),
        "lp-lf": (0.8750, 0.9062),
        "lp-gf": (0.8828, 0.9141),
        "lp-rd": (0.8750, 0.9062),
        "eq-lf": (0.8750, 0.9062),
        "eq-gf": (0.8828, 0.9141),
        "eq-rd": (0.8750, 0.9062),
        "lq": (0.8828, 0.9141),
    },
    Case((100, 0, 0, 0)): {
        "gs": (0.9297, 0.9609),
        "ls-do": (0.9141, 0.9453),
    },
    Case((50, 0, 0, 50)): {
        "gs": (0.8828, 0.9062),
        "ls-or": (0.8672, 0.8984),
        "ls-rd": (0.8828, 0.9141),
        "ls-ro": (0.8906, 0.9141),
        "ls-do": (0.8906, 0.9219),
        "gp": (0.8828, 0.8984),
        "lp-lf": (0.8594, 0.8906),
        "lp-gf": (0.8828, 0.9062),
        "lp-rd": (0.8672, 0.8984),
        "eq-lf": (0.8594, 0.8906),
        "eq-gf": (0.8828, 0.9141),
        "eq-rd": (0.8672, 0.8984),
        "lq": (0.8828, 0.9141),
    },
    Case((0, 0, 0, 100)): {
        "gs": (0.8828, 0.9062),
        "ls-or": (0.8984, 0.9219),
        "ls-rd": (0.9062, 0.9375),
        "ls-ro": (0.9062, 0.9375),
        "ls-do": (0.9141, 0.9375),
    },
    Case((50, 25, 25, 0)): {
        "gs": (0.8984, 0.9297),
        "ls-or": (0.8984, 0.9297),
        "ls-rd": (0.9141, 0.9453),
        "ls-ro": (0.9141, 0.9375),
        "ls-do": (0.9219, 0.9453),
        "gp": (0.9062, 0.9375),
        "lp-lf": (0.8984, 0.9297),
        "lp-gf": (0.9062, 0.9375),
        "lp-rd": (0.9062, 0.9297),
        "eq-lf": (0.8984, 0.9297),
        "eq-gf": (0.9141, 0.9453),
        "eq-rd": (0.9062, 0.9375),
        "lq": (0.9062, 0.9375),
    },
    Case((0, 50, 50, 0)): {
        "gs": (0.8984, 0.9297),
        "ls-or": (0.9141, 0.9453),
        "ls-rd": (0.9219, 0.9531),
        "ls-ro": (0.9219, 0.9531),
        "ls-do": (0.9297, 0.9609),
    },
    Case((50, 50, 0, 0)): {
        "gs": (0.9141, 0.9453),
        "ls-or": (0.9141, 0.9375),
        "ls-rd": (0.9219, 0.9531),
        "ls-ro": (0.9219, 0.9531),
        "ls-do": (0.9297, 0.9531),
        "gp": (0.9141, 0.9453),
        "lp-lf": (0.9141, 0.9453),
        "lp-gf": (0.9219, 0.9531),
        "lp-rd": (0.9219, 0.9453),
        "eq-lf": (0.9141, 0.9453),
        "eq-gf": (0.9297, 0.9531),
        "eq-rd": (0.9219, 0.9453),
        "lq": (0.9141, 0.9453),
    },
    Case((80, 0, 0, 20)): {
        "gs": (0.8828, 0.9062),
        "ls-or": (0.8281, 0.8516),
        "ls-rd": (0.8516, 0.8750),
        "ls-ro": (0.8438, 0.8750),
        "ls-do": (0.8672, 0.8984),
        "gp": (0.8828, 0.9219),
        "lp-lf": (0.8359, 0.8672),
        "lp-gf": (0.8750, 0.9062),
        "lp-rd": (0.8594, 0.8828),
        "eq-lf": (0.8359, 0.8672),
        "eq-gf": (0.8828, 0.9141),
        "eq-rd": (0.8594, 0.8828),
        "lq": (0.8828, 0.9141),
    },
    Case((90, 0, 0, 10)): {
        "gs": (0.8906, 0.9219),
        "ls-or": (0.8047, 0.8438),
        "ls-rd": (0.8281, 0.8516),
        "ls-ro": (0.8203, 0.8438),
        "ls-do": (0.8594, 0.8906),
        "gp": (0.8828, 0.9219),
        "lp-lf": (0.8359, 0.8672),
        "lp-gf": (0.8828, 0.9141),
        "lp-rd": (0.8594, 0.8906),
        "eq-lf": (0.8359, 0.8672),
        "eq-gf": (0.8906, 0.9219),
        "eq-rd": (0.8672, 0.8906),
        "lq": (0.8828, 0.9219),
    },
    Case((80, 0, 0, 20), balanced=False): {
        "ls-or": (0.7891, 0.8125),
        "ls-rd": (0.7734, 0.8047),
        "ls-ro": (0.7734, 0.7969),
        "ls-do": (0.7812, 0.8047),
        "gp": (0.7656, 0.7891),
        "lp-lf": (0.8125, 0.8438),
        "lp-gf": (0.7969, 0.8281),
        "lp-rd": (0.8203, 0.8438),
        "eq-lf": (0.8203, 0.8438),
        "eq-gf": (0.8047, 0.8281),
        "eq-rd": (0.8203, 0.8438),
        "lq": (0.7812, 0.8047),
    },
}
"""Of each case and policy the highest load known to be borne, and the lowest known not to be."""

"""The maximal utilizations of the policies of `queues` in the cases of Table 1.

They are what `metasched reproduce queues --table saturation` finds.
"""

from __future__ import annotations

from dataclasses import dataclass


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


_BORNE = """
composition       gs ls-or ls-rd ls-ro ls-do    gp lp-lf lp-gf lp-rd eq-lf eq-gf eq-rd    lq
25,25,25,25   8750  8906  8984  8984  9062  8828  8750  8828  8750  8750  8828  8750  8828
100,0,0,0     9297     -     -     -  9141     -     -     -     -     -     -     -     -
50,0,0,50     8828  8672  8828  8906  8906  8828  8594  8828  8672  8594  8828  8672  8828
0,0,0,100     8828  8984  9062  9062  9141     -     -     -     -     -     -     -     -
50,25,25,0    8984  8984  9141  9141  9219  9062  8984  9062  9062  8984  9141  9062  9062
0,50,50,0     8984  9141  9219  9219  9297     -     -     -     -     -     -     -     -
50,50,0,0     9141  9141  9219  9219  9297  9141  9141  9219  9219  9141  9297  9219  9141
80,0,0,20     8828  8281  8516  8438  8672  8828  8359  8750  8594  8359  8828  8594  8828
90,0,0,10     8906  8047  8281  8203  8594  8828  8359  8828  8594  8359  8906  8672  8828
80,0,0,20*       -  7891  7734  7734  7812  7656  8125  7969  8203  8203  8047  8203  7812
"""
"""The highest loads known to be borne, of 10,000; a star: unbalanced."""

_NOT_BORNE = """
composition       gs ls-or ls-rd ls-ro ls-do    gp lp-lf lp-gf lp-rd eq-lf eq-gf eq-rd    lq
25,25,25,25   9141  9219  9375  9375  9453  9062  9062  9141  9062  9062  9141  9062  9141
100,0,0,0     9609     -     -     -  9453     -     -     -     -     -     -     -     -
50,0,0,50     9062  8984  9141  9141  9219  8984  8906  9062  8984  8906  9141  8984  9141
0,0,0,100     9062  9219  9375  9375  9375     -     -     -     -     -     -     -     -
50,25,25,0    9297  9297  9453  9375  9453  9375  9297  9375  9297  9297  9453  9375  9375
0,50,50,0     9297  9453  9531  9531  9609     -     -     -     -     -     -     -     -
50,50,0,0     9453  9375  9531  9531  9531  9453  9453  9531  9453  9453  9531  9453  9453
80,0,0,20     9062  8516  8750  8750  8984  9219  8672  9062  8828  8672  9141  8828  9141
90,0,0,10     9219  8438  8516  8438  8906  9219  8672  9141  8906  8672  9219  8906  9219
80,0,0,20*       -  8125  8047  7969  8047  7891  8438  8281  8438  8438  8281  8438  8047
"""
"""The lowest known not to be."""

POLICIES = tuple(_BORNE.split("\n")[1].split()[1:])


def _read(table: str) -> dict[Case, dict[str, float]]:
    found = {}
    for line in table.strip().split("\n")[1:]:
        composition, *loads = line.split()
        percents = tuple(map(int, composition.rstrip("*").split(",")))
        found[Case(percents, balanced=composition[-1] != "*")] = {
            policy: int(load) / 10_000
            for policy, load in zip(POLICIES, loads, strict=True)
            if load != "-"
        }
    return found


SATURATION: dict[Case, dict[str, tuple[float, float]]] = {
    case: {policy: (low, high[policy]) for policy, low in of_case.items()}
    for (case, of_case), high in zip(_read(_BORNE).items(), _read(_NOT_BORNE).values(), strict=True)
}
"""Of each case and policy the highest load known to be borne, and the lowest known not to be."""

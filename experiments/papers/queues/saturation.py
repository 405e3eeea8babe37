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
25,25,25,25   8945  9062  9180  9180  9258  8945  8906  8945  8906  8906  8945  8906  8945
100,0,0,0     9414     -     -     -  9297     -     -     -     -     -     -     -     -
50,0,0,50     8906  8750  8945  8984  9023  8906  8672  8906  8750  8672  8906  8750  8906
0,0,0,100     8906  9102  9180  9180  9258     -     -     -     -     -     -     -     -
50,25,25,0    9141  9141  9258  9219  9297  9141  9102  9219  9141  9102  9219  9141  9180
0,50,50,0     9102  9219  9297  9297  9375     -     -     -     -     -     -     -     -
50,50,0,0     9258  9180  9336  9297  9375  9258  9219  9297  9258  9219  9336  9297  9258
80,0,0,20     8906  8359  8555  8555  8828  8906  8477  8906  8672  8477  8945  8672  8945
90,0,0,10     9023  8203  8359  8320  8711  8984  8477  8906  8711  8477  8984  8750  9023
80,0,0,20*       -  7891  7812  7812  7852  7734  8242  8086  8281  8242  8086  8242  7891
"""
"""The highest loads known to be borne, of 10,000; a star: unbalanced."""

_NOT_BORNE = """
composition       gs ls-or ls-rd ls-ro ls-do    gp lp-lf lp-gf lp-rd eq-lf eq-gf eq-rd    lq
25,25,25,25   9023  9141  9258  9258  9336  9062  8984  9023  8984  8984  9062  8984  9062
100,0,0,0     9492     -     -     -  9375     -     -     -     -     -     -     -     -
50,0,0,50     8984  8867  9023  9062  9141  9023  8789  8984  8867  8789  9023  8867  8984
0,0,0,100     8984  9180  9258  9258  9336     -     -     -     -     -     -     -     -
50,25,25,0    9219  9219  9336  9336  9375  9258  9180  9297  9219  9180  9297  9219  9258
0,50,50,0     9180  9336  9414  9414  9492     -     -     -     -     -     -     -     -
50,50,0,0     9336  9297  9414  9414  9453  9336  9336  9414  9375  9336  9453  9375  9336
80,0,0,20     8984  8438  8633  8633  8906  9023  8555  8984  8750  8555  9023  8750  9023
90,0,0,10     9102  8320  8438  8398  8789  9102  8555  8984  8828  8555  9062  8828  9102
80,0,0,20*       -  8008  7891  7891  7930  7812  8320  8164  8359  8320  8164  8359  7969
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

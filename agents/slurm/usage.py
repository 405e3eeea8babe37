"""Fair share: what users and accounts have used, halved each half-life, beside their shares.

Two levels: accounts, and users of an account. All shares are 1: ``slurm.conf`` tells none, for
Slurm keeps them in a database.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import groupby
from typing import NamedTuple, TypeVar

K = TypeVar("K")


class Association(NamedTuple):
    """A user of an account, by numbers; -1: unknown."""

    account: int
    user: int


SMALLEST = 1e-100
"""Scale of what was used, below which it begins anew."""


class Usage:
    """What each association has used, processor-seconds, decayed to the time of the last look.

    Parameters
    ----------
    half_life : float
        Time after which half of what was used counts, s; infinite: all counts for ever.
    """

    def __init__(self, half_life: float) -> None:
        self.half_life = half_life
        self._used: dict[Association, float] = defaultdict(float)  # over `_scale`
        self._scale = 1.0
        self._running: dict[int, tuple[Association, int]] = {}
        self._at = 0.0

    @property
    def used(self) -> dict[Association, float]:
        """What each has used, processor-seconds, as of the last look."""
        return {each: amount * self._scale for each, amount in self._used.items()}

    def know(self, association: Association) -> None:
        """Count an association among those that there are."""
        self._used.setdefault(association, 0.0)

    def begin(self, job: int, association: Association, size: int, now: float) -> None:
        """Have a job of so many processors run from now (s) on."""
        self.look(now)
        self._running[job] = association, size

    def end_others(self, jobs: Collection[int], now: float) -> bool:
        """Have all jobs but these have ended by now, s; tell whether any has."""
        self.look(now)
        ended = self._running.keys() - set(jobs)
        for job in ended:
            del self._running[job]
        return bool(ended)

    def look(self, now: float) -> None:
        """Let what was used decay until now (s), and add what has been used since."""
        elapsed = now - self._at
        if elapsed <= 0:
            return
        self._scale *= 0.5 ** (elapsed / self.half_life)
        if self._scale < SMALLEST:
            self._used, self._scale = defaultdict(float, self.used), 1.0
        for association, size in self._running.values():
            self._used[association] += size * elapsed / self._scale
        self._at = now


def fair_tree(used: Mapping[Association, float]) -> dict[Association, float]:
    """Return the fair-share factor of each association, by the algorithm Fair Tree.

    Accounts, and in each its users, are ranked by their share over what they have used, both among
    their siblings; those of the first account come before those of the next, and the factor falls
    from 1 in even steps. Siblings of equal rank share it, and equal accounts are merged.

    Examples
    --------
    >>> a, b = Association(0, 1), Association(1, 2)
    >>> fair_tree({a: 10.0, b: 90.0})
    {Association(account=0, user=1): 1.0, Association(account=1, user=2): 0.5}
    """
    accounts: dict[int, float] = defaultdict(float)
    for each, amount in used.items():
        accounts[each.account] += amount
    of_account = _levels({(account,): amount for account, amount in accounts.items()})
    ranked: list[Association] = []
    factors: dict[Association, float] = {}
    order = sorted(of_account, key=lambda key: -of_account[key])
    for _, equal in groupby(order, key=lambda key: of_account[key]):
        names = {key[0] for key in equal}
        users = {each: amount for each, amount in used.items() if each.account in names}
        level: dict[Association, float] = {}
        for account in names:
            level |= _levels({u: amount for u, amount in users.items() if u.account == account})
        for each in sorted(level, key=lambda u: -level[u]):
            same = bool(ranked) and ranked[-1] in level and level[ranked[-1]] == level[each]
            factors[each] = factors[ranked[-1]] if same else 1 - len(ranked) / len(used)
            ranked.append(each)
    return factors


def _levels(used: Mapping[K, float]) -> dict[K, float]:
    """Return share over usage of each of some siblings; infinity for one that has used nothing."""
    total = sum(used.values())
    return {
        each: math.inf if amount <= 0 else (1 / len(used)) / (amount / total)
        for each, amount in used.items()
    }


def classic(used: Mapping[Association, float]) -> dict[Association, float]:
    """Return the fair-share factor of each association, by the algorithm of ``NO_FAIR_TREE``.

    It is 2^(-U/S) of the share S and the effective usage U, which is the user's own share of all
    that was used, and the account's as far as the user's share of the account goes.

    Examples
    --------
    >>> classic({Association(0, 1): 0.0, Association(0, 2): 10.0})[Association(0, 2)]
    0.25
    """
    total = sum(used.values())
    accounts: dict[int, list[Association]] = defaultdict(list)
    for each in used:
        accounts[each.account].append(each)
    factors: dict[Association, float] = {}
    for members in accounts.values():
        of_account = sum(used[each] for each in members) / total if total else 0.0
        for each in members:
            own = used[each] / total if total else 0.0
            effective = own + (of_account - own) / len(members)
            share = 1 / len(accounts) / len(members)
            factors[each] = 2.0 ** (-effective / share)
    return factors

"""Options that mean nothing to a simulation: what is simulated does not read them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from experiments.maxutil.system import LOG, System

UNREAD: tuple[tuple[tuple[str, ...], str, Callable[[System, str], bool]], ...] = (
    (("placement",), "request is not unordered", lambda s, method: s.request != "unordered"),
    (("max_jumps",), "policy is fcfs", lambda s, method: s.policy == "fcfs"),
    (("service", "cv", "zero", "draws"), "jobs of the log are whole", lambda s, _: s.together),
    (
        ("cv",),
        "service is not hyperexponential",
        lambda s, method: not s.together and s.service != "hyperexponential",
    ),
    (
        ("largest",),
        "no log is read",
        lambda s, method: not any(each.startswith(LOG) for each in (s.law, s.service)),
    ),
    (("waiting",), "method is not heavy", lambda s, method: method != "heavy"),
    (
        ("threshold", "start", "bound"),
        "method is not poisson",
        lambda s, method: method != "poisson",
    ),
    (
        ("threshold",),
        "policy is fpfs",
        lambda s, method: method == "poisson" and s.policy == "fpfs",
    ),
    (
        ("start", "bound"),
        "policy is fcfs",
        lambda s, method: method == "poisson" and s.policy == "fcfs",
    ),
)
"""Options that mean nothing, why, and when: by the system and the method."""


def without_effect(given: Collection[str], system: System, method: str) -> str:
    """Return in a line which of the options that were given mean nothing, and why.

    >>> without_effect(["--cv", "--seed"], System((32,), "U[1,4]"), "heavy")
    'options without effect: --cv (service is not hyperexponential)'
    >>> without_effect(["--seed"], System((32,), "U[1,4]"), "heavy")
    ''
    """
    reasons = []
    for names, why, applies in UNREAD:
        options = (f"--{name.replace('_', '-')}" for name in names)
        found = [each for each in options if each in given]
        if found and applies(system, method):
            reasons.append(f"{', '.join(found)} ({why})")
    return f"options without effect: {'; '.join(reasons)}" if reasons else ""

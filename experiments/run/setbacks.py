"""What throws jobs back, in words."""

from __future__ import annotations


def setbacks(restarts: float, preemptions: float) -> str:
    """Return what has thrown jobs back so often, of which other jobs did so many times.

    >>> setbacks(3, 0), setbacks(3, 2), setbacks(3, 3)
    ('failures', 'failures and preemption', 'preemption')
    """
    if not preemptions:
        return "failures"
    return "preemption" if preemptions == restarts else "failures and preemption"

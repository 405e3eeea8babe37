"""Whether a job runs again whose processes were killed."""

from __future__ import annotations

from experiments.service.at_sites.site import End
from experiments.service.store import CANCELLED, FAILED, LOST, LiveJob

TRIES, SHORT = 10, 10.0
"""Attempts from which on a job is not run again whose last one has not lasted for so long, s."""


def runs_again(job: LiveJob, end: End, state: str, why: str, ran: float | None) -> tuple[bool, str]:
    """Return whether a job runs again that has ended so, and why it ended, and does not.

    Parameters
    ----------
    job : LiveJob
    end : End
    state : str
        That is its state otherwise.
    why : str
        It ended.
    ran : float or None
        For how long it has run, s; None: it has not begun.
    """
    if end.back and state != CANCELLED:
        return True, why
    killed = state in (FAILED, LOST) and end.exit_status is None and end.again
    if killed and job.attempt >= TRIES and (ran or 0.0) < SHORT:
        return False, f"{why}, soon after it began, as in {TRIES} attempts or more"
    return bool(job.requeue) and killed and ran is not None, why

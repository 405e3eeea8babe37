"""What throws jobs back, and why some are unfinished, in words."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.show.labels import away_words


def setbacks(restarts: float, preemptions: float) -> str:
    """Return what has thrown jobs back so often, of which other jobs did so many times.

    >>> setbacks(3, 0), setbacks(3, 2), setbacks(3, 3)
    ('failures', 'failures and preemption', 'preemption')
    """
    if not preemptions:
        return "failures"
    return "preemption" if preemptions == restarts else "failures and preemption"


def why_unfinished(
    unfinished: int,
    thrown_back: int,
    never_heard: bool,
    away: Mapping[str, float],
    too_large: int = 0,
    varies: bool = False,
    idle: str = "",
    by: str = "failures",
) -> str:
    """Return in words why so many jobs are unfinished, of which some were thrown back, and by what.

    What is away at the end is told as it is (`away_words`), and how many are too large for what is
    up then: the others may wait behind those, or for something else. What policies say
    of it is told, too.

    >>> why_unfinished(3, 0, True, {})
    'no scheduler started them; advertisements may have been lost, and advertise = change repeats \
none'
    >>> why_unfinished(3, 2, True, {})
    '1 that no scheduler started, 2 thrown back by failures'
    >>> why_unfinished(3, 0, False, {"A": 8})
    'no scheduler started them; 8 processors of A are away'
    >>> why_unfinished(3, 0, False, {}, idle="Mine.place returned None each time")
    'no scheduler started them; Mine.place returned None each time'
    >>> why_unfinished(3, 0, False, {"A": 8}, 2)
    'no scheduler started them; 8 processors of A are away, and 2 of the jobs are too large for \
what is up'
    """
    told = away_words(away, varies)
    if told and too_large:
        which = f"{'all' if too_large == unfinished else f'{too_large:,}'} of the jobs"
        are = f"{which} {'is' if too_large == 1 else 'are'}" if unfinished > 1 else "the job is"
        told += f", and {are} too large for what is up"
    too = f"; {told}" if told else ""
    if not thrown_back:
        lost = "; advertisements may have been lost"
        lost += f"{' too' if told else ''}, and advertise = change repeats none"
        none = f"; {idle}" if idle else ""
        which = "it" if unfinished == 1 else "them"
        return f"no scheduler started {which}{none}{too}{lost if never_heard else ''}"
    back, never = f"{thrown_back:,} thrown back by {by}{too}", unfinished - thrown_back
    return f"{never:,} that no scheduler started, {back}" if never else back

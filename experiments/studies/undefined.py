"""Numbers that runs of a study do not have, and deadlines that are not the jobs' own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.labels import drawn_words, label, why_none
from experiments.results import deadlines_from

if TYPE_CHECKING:
    from experiments.studies.outcome import StudyOutcome


def remarks(outcome: StudyOutcome) -> Iterator[str]:
    """Yield which policies lack a metric of the study, and where deadlines are from."""
    runs = outcome.runs
    for name in outcome.study.reported:
        lacking = [
            str(policy)
            for policy, of in runs.groupby("policy", sort=False)
            if of[name].isna().all()
        ]
        if lacking and (why := why_none(name)):
            yield f"{_whose(lacking)} no {label(name)}: {why}."
    if "drawn_deadlines" in runs:
        drawn = drawn_words(deadlines_from(runs["drawn_deadlines"].mean()))
        if drawn:
            yield f"{drawn[0].upper()}{drawn[1:]}."


def undefined(found: Sequence[Mapping[str, Sequence[float]]], name: str) -> str:
    """Return why none of some runs has a metric, "" if one has it or nothing is known of it."""
    if any(value == value for run in found for value in run[name]):
        return ""
    return why_none(name)


def _whose(policies: Sequence[str]) -> str:
    return f"{', '.join(policies)} {'has' if len(policies) == 1 else 'have'}"

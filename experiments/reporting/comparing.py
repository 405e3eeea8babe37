"""Several runs beside each other, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from experiments.labels import label, told
from experiments.numbers import counted, percent
from experiments.reporting.ran import Ran
from experiments.reporting.words import Sentence, found


def compared(runs: list[Ran]) -> list[Sentence]:
    """Return what a comparison came to."""
    same = all(_same_jobs(runs[0], ran) for ran in runs[1:])
    lines = [
        Sentence(
            "All runs had the same jobs."
            if same
            else "The runs had different jobs: what differs may be due to that alone.",
            warns=not same,
        )
    ]
    if any(ran.platform.to_dict() != runs[0].platform.to_dict() for ran in runs[1:]):
        lines.append(Sentence("They were on different platforms.", warns=True))
    lines.append(
        Sentence(
            "One run of each: whether a difference is more than chance, metasched study tells."
        )
    )
    lines += _ranked(runs)
    if same:
        lines += _paired(runs)
    for ran in runs:
        lines += [Sentence(f"{ran.name}: {each.text}", True) for each in found(ran) if each.warns]
    return lines


def _same_jobs(one: Ran, other: Ran) -> bool:
    columns = ["job", "arrival", "size"]
    return one.jobs[columns].equals(other.jobs[columns])


def _ranked(runs: list[Ran]) -> Iterator[Sentence]:
    for name, high in (
        ("mean_wait", False),
        ("mean_bounded_slowdown", False),
        ("utilization", True),
    ):
        known = [(ran.summary["metrics"].get(name), ran.name) for ran in runs]
        values = sorted(((v, n) for v, n in known if v is not None), reverse=high)
        if len(values) < 2:
            continue
        (best, winner), *others = values
        if all(value == best for value, _ in others):
            yield Sentence(f"All have the same {label(name)}, {told(name, best)}.")
            continue
        rest = ", ".join(f"{who} {told(name, value)}{_more(value, best)}" for value, who in others)
        superlative = "highest" if high else "lowest"
        best_of = f"{label(name)} is that of {winner}, {told(name, best)}"
        yield Sentence(f"The {superlative} {best_of}; {rest}.")


def _more(value: float, best: float) -> str:
    return f" ({100 * (value / best - 1):+.1f} %)" if best else ""


def _paired(runs: list[Ran]) -> Iterator[Sentence]:
    """Yield for how many jobs the first run was better: means may hide that."""
    first = runs[0]
    for other in runs[1:]:
        both = first.counted & other.counted
        if not both.any():
            continue
        earlier = (first.jobs["start"] - other.jobs["start"]).to_numpy()[both]
        yield Sentence(
            f"Of the {counted(int(both.sum()), 'job')} that both completed, "
            f"{percent(float(np.mean(earlier < 0)))} started earlier under {first.name} than "
            f"under {other.name}, {percent(float(np.mean(earlier > 0)))} later."
        )

"""The commands of `metasched maxutil`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from experiments.options import Number, Numbers


@click.group()
def maxutil() -> None:
    """Compute how much of a multicluster can be used.

    Jobs are served first come, first served, so that the first of them often waits though
    processors are idle. By the formulas of `maxutil`, for exponential service.
    """


def _options(dependent: bool) -> Callable[..., Any]:
    """Return what adds the options that describe jobs and clusters."""
    options = [
        click.option(
            "--dist",
            "distributions",
            multiple=True,
            required=True,
            metavar="LAW",
            help="Sizes of a component: U[a,b], D(q)[a,b] or swf:FILE.",
        ),
        click.option("--clusters", type=Number(1), metavar="C", help="(default: 4)"),
        click.option(
            "--size",
            "sizes",
            type=Numbers(1),
            default="32",
            show_default=True,
            metavar="N[,N...]",
            help="Processors of each cluster, or of one after the other.",
        ),
        click.option(
            "--zero",
            type=Number(0, whole=False),
            default=0.0,
            metavar="P",
            help="Probability that a component is not there (default: 0).",
        ),
    ]
    if dependent:
        options.append(
            click.option(
                "--dependent",
                is_flag=True,
                help="Split the sum of the draws evenly, into as few components as fit.",
            )
        )
    options += [
        click.option(
            "--draws",
            type=Number(1),
            metavar="K",
            help="Draws of LAW that a job's size is the sum of, where that is split or total "
            "(default: one for each cluster).",
        ),
        click.option(
            "--slotted", is_flag=True, help="Deterministic service, all jobs in step (eq. 4)."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout."),
    ]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@maxutil.command(short_help="Jobs that name the cluster of each component: exact.")
@_options(dependent=True)
def ordered(as_json: bool, **options: Any) -> None:
    """Compute exactly for jobs that name the cluster of each component.

    Several --dist give each cluster's components a law of their own. The components of
    --dependent are on clusters chosen at random.
    """
    _answer("ordered", as_json, options)


@maxutil.command(short_help="One cluster as large as all: exact.")
@_options(dependent=False)
def total(as_json: bool, **options: Any) -> None:
    """Compute exactly for one cluster as large as all, and the sum of the components."""
    _answer("total", as_json, options)


@maxutil.command(short_help="Components go where there is most room: approximate.")
@_options(dependent=True)
def unordered(as_json: bool, **options: Any) -> None:
    """Approximate for jobs whose components go wherever there is most room (Worst Fit)."""
    _answer("unordered", as_json, options)


def _answer(request: str, as_json: bool, options: dict[str, Any]) -> None:
    from experiments.maxutil.formulas import Question

    Question(request, **options).answer().show(as_json)

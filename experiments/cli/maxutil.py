"""The commands of `metasched maxutil`."""

from __future__ import annotations

from typing import Any

import click

from experiments.cli.options import Number, Numbers, Option, adding, given_beside, json_option
from experiments.cli.process import Commands
from grid.errors import GridError


@click.group(cls=Commands)
def maxutil() -> None:
    """Compute how much of a multicluster can be used.

    Jobs are served first come, first served, so that the first of them often waits though
    processors are idle. By the formulas of `maxutil`, for exponential service; or simulated.
    """


_DIST = click.option(
    "--dist",
    "distributions",
    multiple=True,
    required=True,
    metavar="LAW",
    help="Sizes of a component: U[a,b], D(q)[a,b] or swf:FILE.",
)
_CLUSTERS = click.option("--clusters", type=Number(1), metavar="C", help="(default: 4)")
_SIZES = click.option(
    "--size",
    "sizes",
    type=Numbers(1),
    default="32",
    show_default=True,
    metavar="N[,N...]",
    help="Processors of each cluster, or of one after the other.",
)
_ZERO = click.option(
    "--zero",
    type=Number(0, whole=False),
    default=0.0,
    metavar="P",
    help="Probability that a component is not there (default: 0).",
)
_DEPENDENT = click.option(
    "--dependent",
    is_flag=True,
    help="Split the sum of the draws evenly, into as few components as fit.",
)
_DRAWS = click.option(
    "--draws",
    type=Number(1),
    metavar="K",
    help="Draws of LAW that a job's size is the sum of, where that is split or total "
    "(default: one for each cluster).",
)


def _options(dependent: bool) -> Option:
    """Return what adds the options that describe jobs and clusters."""
    return adding(
        _DIST,
        _CLUSTERS,
        _SIZES,
        _ZERO,
        *([_DEPENDENT] if dependent else []),
        _DRAWS,
        click.option(
            "--slotted",
            is_flag=True,
            help="Deterministic service, all jobs in step: approximation (eq. 4).",
        ),
        json_option,
    )


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


@maxutil.command(short_help="Any of them, also FPFS and other service times: simulated.")
@_DIST
@click.option(
    "--request",
    type=click.Choice(["unordered", "ordered", "total"]),
    default="unordered",
    help="(default: unordered)",
)
@click.option(
    "--placement",
    type=click.Choice(["wf", "ff"]),
    default="wf",
    help="Of unordered requests: Worst Fit (default) or First Fit.",
)
@click.option(
    "--policy",
    type=click.Choice(["fcfs", "fpfs"]),
    default="fcfs",
    help="In order (default), or whatever fits first.",
)
@click.option(
    "--max-jumps",
    type=Number(0),
    default=50,
    metavar="J",
    help="How often FPFS lets a job be overtaken (default: 50).",
)
@click.option(
    "--service",
    default="exponential",
    metavar="LAW",
    help="exponential (default), deterministic, hyperexponential, or swf:FILE, the run times of "
    "a log.",
)
@click.option(
    "--cv",
    type=Number(1, whole=False),
    default=10.0,
    help="Coefficient of variation of hyperexponential service (default: 10).",
)
@_CLUSTERS
@_SIZES
@_ZERO
@_DEPENDENT
@_DRAWS
@click.option(
    "--together",
    is_flag=True,
    help="Of --dist swf:FILE draw whole jobs: size and run time.",
)
@click.option("--largest", type=Number(1), metavar="N", help="Leave out larger jobs of logs.")
@click.option("--jobs", type=Number(1000), default=4_000_000, help="(default: 4,000,000)")
@click.option(
    "--method",
    type=click.Choice(["heavy", "poisson"]),
    default="heavy",
    help="Jobs always wait (default), or --jobs arrive by a Poisson process.",
)
@click.option(
    "--waiting",
    type=Number(1),
    metavar="K",
    help="How many always wait (default: 1; 100 under FPFS, whose result depends on it).",
)
@click.option(
    "--threshold",
    type=Number(1, whole=False, above=True),
    default=1000.0,
    metavar="T",
    help="FCFS, poisson: mean response at the maximal utilization, in service times "
    "(default: 1000).",
)
@click.option(
    "--start",
    type=Number(1),
    default=1000,
    help="FPFS, poisson: jobs that wait in the beginning (default: 1000).",
)
@click.option(
    "--bound",
    type=Number(1),
    default=2000,
    help="FPFS, poisson: the queue shall reach neither 0 nor this (default: 2000).",
)
@click.option("--seed", type=Number(0), default=0, show_default=True)
@json_option
def simulate(
    as_json: bool,
    distributions: tuple[str, ...],
    clusters: int | None,
    sizes: tuple[int, ...],
    jobs: int,
    method: str,
    waiting: int | None,
    threshold: float,
    start: int,
    bound: int,
    seed: int,
    **options: Any,
) -> None:
    """Simulate how much can be used, with a 95 % confidence interval (batch means)."""
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.maxutil.formulas import each_size
        from experiments.maxutil.simulate import simulated
        from experiments.maxutil.system import System
        from experiments.maxutil.unread import without_effect
    if len(distributions) > 1:
        raise GridError(f"--dist: found {len(distributions)}; accepted: one")
    system = System(each_size(clusters, sizes), distributions[0], **options)
    if unread := without_effect([*given_beside(())], system, method):
        click.echo(f"metasched: {unread}", err=True)
    with telling(f"simulating {jobs:,} jobs at a time"):
        answer = simulated(system, jobs, seed, method, waiting, threshold, start, bound)
    answer.show(as_json)


def _answer(request: str, as_json: bool, options: dict[str, Any]) -> None:
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.maxutil.formulas import Question
    with telling(f"computing for {request} requests"):
        answer = Question(request, **options).answer()
    answer.show(as_json)

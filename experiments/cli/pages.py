"""What shows runs: the commands `metasched report`, `plot`, `view` and `explain`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import (
    PLACE,
    Number,
    chosen_scenario,
    given_beside,
    json_option,
    scenario_options,
)
from experiments.cli.process import end_interrupted, users_code

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

KINDS = ("gantt", "utilization", "links", "waits")

_RESULTS = click.argument("results", type=PLACE, metavar="RESULT...", nargs=-1, required=True)


@click.command()
@_RESULTS
@click.option("-o", "--out", type=PLACE, metavar="FILE", default="report.html", show_default=True)
def report(results: tuple[str, ...], out: str) -> None:
    """Write a page on RESULT that any browser opens, without a network.

    RESULT is a folder that `metasched run --out DIR` wrote, or that of a service (`metasched serve
    --state`); several are compared. Or it is the file of a study.
    """
    from experiments.run.files import check_file, new_file
    from experiments.sweeps.progress import telling
    from grid.errors import GridError
    from grid.foreign import quoted

    if Path(out).suffix.lower() not in (".html", ".htm"):
        raise GridError(f"-o: found {quoted(out)}; accepted: a file that ends in .html")
    check_file(out, "report")
    with telling("loading"):
        page = _page(results)
    with telling(f"writing {out}"), new_file(out, "report") as new:
        new.write_text(page, encoding="utf-8")
    _tell(out)


def _tell(out: str) -> None:
    """Print how large a file is that was written."""
    size = Path(out).stat().st_size
    click.echo(f"{out}: {f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.0f} kB'}")


@contextmanager
def _as_runs(folders: Sequence[str]) -> Iterator[list[str]]:
    """Give the folders of runs; of a service, one that a run would leave with its jobs."""
    from experiments.service.presence import is_service

    with ExitStack() as made:
        runs = []
        for each in folders:
            if is_service(each):
                from experiments.service.history.as_run import as_run

                each = str(made.enter_context(as_run(Path(each))))
            runs.append(each)
        yield runs


def _page(results: tuple[str, ...]) -> str:
    """Return the page on a study, or on runs."""
    from experiments.run.result_files import FOLDER
    from grid.errors import GridError

    files = [each for each in results if os.path.isfile(each)]
    known = f"{FOLDER}, or the file of a study"
    if not files:
        from experiments.show.page import page_of
        from experiments.show.run_data import Ran

        for each in results:
            if not os.path.exists(each):
                raise GridError(f"{each}: no such file or folder; accepted: {known}")
        with _as_runs(results) as runs:
            return page_of([Ran.read(each) for each in runs])
    if len(results) > 1:
        raise GridError(
            f"{files[0]}: found with others; accepted: a study alone, or folders of runs"
        )
    with suppress(OSError), open(files[0], "rb") as file:  # else what follows says why
        if file.read(6) != b"SQLite":
            raise GridError(f"{files[0]}: found a file of another kind; accepted: {known}")
    from experiments.show.study_page import study_page
    from experiments.studies.outcome import StudyOutcome

    return study_page(StudyOutcome.read(files[0]))


@click.command()
@_RESULTS
@click.option("--what", type=click.Choice(KINDS), default="gantt", show_default=True)
@click.option(
    "-o", "--out", type=PLACE, metavar="FILE", required=True, help="A .png, .pdf or .svg."
)
def plot(results: tuple[str, ...], what: str, out: str) -> None:
    """Draw a picture of RESULT: its schedule, use and queue, links, or waits and slowdowns.

    RESULT is a folder that `metasched run --out DIR` wrote, or that of a service (`metasched serve
    --state`); several are compared.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.run.result_files import FOLDER
        from experiments.show.plots import check_picture, save
        from grid.errors import GridError
    check_picture(out)
    for each in filter(os.path.isfile, results):
        known = f"{FOLDER}; `metasched report` draws the file of a study"
        raise GridError(f"{each}: found a file; accepted: {known}")
    with telling("loading"):
        from experiments.show.differences import told_apart
        from experiments.show.run_data import Ran
        from experiments.show.run_plots import draw
    with telling(f"drawing {out}"), _as_runs(results) as runs:
        save(draw(told_apart([Ran.read(each) for each in runs]), what), out)
    _tell(out)


@click.command()
@scenario_options(metrics=False)
@click.option(
    "--port", type=Number(0), default=8765, show_default=True, help="Of this machine; 0: any free."
)
@click.option("--browser/--no-browser", default=True, help="Open a browser (default).")
def view(scenario: str, seed: int, port: int, browser: bool, **options: Any) -> None:
    """Show SCENARIO in the browser: play, pause, step, change parameters, see both levels at work.

    Or a page of your own: a .py file that leaves Mesa's SolaraViz in its variable `page`. Needs the
    extra `view` (pip install "metasched[view]"), and no network. Ctrl-C ends it. A .py file is run,
    and modules that a scenario names (module:Class) are imported: use only files that you trust.
    """
    from experiments.sweeps.progress import telling
    from experiments.view.page import HOST, app_of, check_installed, has_page, listen, serve

    check_installed()
    what: tuple[Scenario, int] | str = scenario
    own = has_page(scenario)
    if own:
        _check_own(scenario)
    with users_code(), listen(port) as at:
        if not own:
            with telling("loading"):
                chosen = chosen_scenario(scenario, **options)
            _compile(chosen, seed)
            what = chosen, seed
        with telling("loading"):
            app = app_of(what)
        click.echo(f"{scenario}: http://{HOST}:{at.getsockname()[1]} (Ctrl-C ends)")
        serve(app, at, browser, end_interrupted)


def _check_own(page: str) -> None:
    """Raise `GridError` if a page of one's own is given what a scenario is to be run with."""
    from grid.errors import GridError

    for name in given_beside(("scenario", "port", "browser", "traceback")):
        raise GridError(
            f"{name}: found with {page}, a page that makes its own model; accepted: with a scenario"
        )


def _compile(scenario: Scenario, seed: int) -> None:
    """Compile what a scenario needs, which also tells whether it can be run."""
    from experiments.scenario.notes import notes
    from experiments.sweeps.compiling import saying_when_compiling
    from grid.workloads.table import stated_by

    with saying_when_compiling(always=True):
        model = scenario.model(seed)
        model.world.compile()
    for note in notes(scenario, stated=stated_by(model.workload)):
        click.echo(f"metasched: {note}", err=True)


@click.command()
@click.argument("result", type=PLACE, metavar="RESULT")
@click.argument("job", type=Number())
@click.option(
    "--events",
    type=PLACE,
    metavar="FILE",
    help="The run's event log (default: RESULT/events.jsonl).",
)
@json_option
def explain(result: str, job: int, events: str | None, as_json: bool) -> None:
    """Tell the story of JOB (its number) in RESULT; of several of one number, that of each.

    RESULT is a folder that `metasched run --out DIR --events DIR/events.jsonl` wrote, or that of a
    service (`metasched serve --state`).
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.events.explain import explain as of_run
        from experiments.events.explain import print_stories
        from experiments.service.history.explain import explain as of_service
        from experiments.service.presence import is_service
        from grid.errors import GridError
    live = is_service(result)
    if live and events is not None:
        raise GridError(f"--events: found with {result}, of a service, which has its own")
    with telling(f"reading {result}"):
        stories = of_service(Path(result), job) if live else of_run(result, job, events)
    print_stories(stories, as_json)

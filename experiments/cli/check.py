"""`metasched check` and `metasched verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from experiments.cli.options import (
    PLACE,
    chosen_workload,
    json_option,
    traceback_option,
    workload_now_option,
)
from experiments.cli.process import FAILED, stdout_kept, users_code
from grid.errors import GridError


@click.command()
@click.argument("scheduler", metavar="SCHEDULER")
@traceback_option
@json_option
def check(scheduler: str, as_json: bool) -> None:
    """Try SCHEDULER in small grids, and say what is wrong.

    SCHEDULER is module:Class, or a built-in name: of a global or local scheduler, or of a predictor
    of run times, which is imported and run: use only code that you trust. Exit status 1 if a check
    fails.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.checks.check import check as check_scheduler
        from experiments.checks.verdicts import print_verdicts
        from experiments.sweeps.compiling import saying_when_compiling

    with stdout_kept() as stdout:
        with users_code(), saying_when_compiling(always=False), telling("trying it") as watch:
            verdicts = check_scheduler(scheduler, watch.note, watch)
        print_verdicts(scheduler, verdicts, as_json, stdout)
    if not all(verdict.holds for verdict in verdicts):
        sys.exit(FAILED)


@click.command()
@click.argument("result", type=PLACE, metavar="RESULT")
@workload_now_option
@json_option
def verify(result: str, workload: tuple[str, ...], as_json: bool) -> None:
    """Check RESULT against its platform and workload.

    RESULT is a folder that `metasched run --out` wrote, or that of a service (`metasched serve
    --state`): its jobs, what they left, and its audit log. Exit status 1 if a check fails.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.checks.verdicts import print_verdicts
        from experiments.checks.verify import verify as verify_result
        from experiments.service.history.verify import verify as verify_service
        from experiments.service.presence import is_service
    live = is_service(result)
    if live and workload:
        raise GridError(f"--workload: found with {result}, of a service; accepted: none")
    with telling(f"verifying {result}"):
        if live:
            verdicts = verify_service(Path(result))
        else:
            verdicts = verify_result(result, chosen_workload(workload))
    print_verdicts(result, verdicts, as_json)
    if not all(verdict.holds for verdict in verdicts):
        sys.exit(FAILED)

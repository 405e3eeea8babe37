"""The command `metasched explain`."""

from __future__ import annotations

import click

from experiments.cli.options import PLACE, Number


@click.command()
@click.argument("result", type=PLACE, metavar="RESULT")
@click.argument("job", type=Number())
@click.option(
    "--events",
    type=PLACE,
    metavar="FILE",
    help="The run's event log (default: RESULT/events.jsonl).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, alone on stdout.")
def explain(result: str, job: int, events: str | None, as_json: bool) -> None:
    """Tell the story of JOB (its number) in RESULT; of several of one number, that of each.

    RESULT is a folder that `metasched run --out DIR --events DIR/events.jsonl` wrote.
    """
    from experiments.sweeps.progress import telling

    with telling("loading"):
        from experiments.events.explain import explain as stories_of
        from experiments.events.explain import print_stories
    with telling(f"reading {result}"):
        stories = stories_of(result, job, events)
    print_stories(stories, as_json)

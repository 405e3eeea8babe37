"""The command `metasched view`."""

from __future__ import annotations

from typing import Any

import click

from experiments.cli.options import Number, chosen_scenario, scenario_options
from experiments.cli.process import users_code


@click.command()
@scenario_options(metrics=False)
@click.option(
    "--port", type=Number(0), default=8765, show_default=True, help="Of this machine; 0: any free."
)
@click.option("--browser/--no-browser", default=True, help="Open a browser (default).")
def view(scenario: str, seed: int, port: int, browser: bool, **options: Any) -> None:
    """Show SCENARIO in the browser: play, pause, step, change parameters, see both levels at work.

    Needs the extra `view` (pip install "metasched[view]"), and no network. Ctrl-C ends it.
    """
    from experiments.sweeps.progress import telling
    from experiments.view.page import HOST, check_installed, listen, serve

    check_installed()
    with telling("loading"), users_code():
        chosen = chosen_scenario(scenario, **options)
    at = listen(port)
    from experiments.cli.compiling import saying_when_compiling

    with users_code(), saying_when_compiling(always=True):
        chosen.model(seed).world.compile()
    click.echo(f"{chosen.name}: http://{HOST}:{at.getsockname()[1]} (Ctrl-C ends)")
    with users_code():
        serve(chosen, seed, at, browser)

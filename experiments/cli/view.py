"""The command `metasched view`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import Number, chosen_scenario, scenario_options
from experiments.cli.process import users_code

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario


@click.command()
@scenario_options(metrics=False)
@click.option(
    "--port", type=Number(0), default=8765, show_default=True, help="Of this machine; 0: any free."
)
@click.option("--browser/--no-browser", default=True, help="Open a browser (default).")
def view(scenario: str, seed: int, port: int, browser: bool, **options: Any) -> None:
    """Show SCENARIO in the browser: play, pause, step, change parameters, see both levels at work.

    Or a page of your own: a .py file that leaves Mesa's SolaraViz in its variable `page`. Needs the
    extra `view` (pip install "metasched[view]"), and no network. Ctrl-C ends it.
    """
    from experiments.sweeps.progress import telling
    from experiments.view.page import HOST, check_installed, has_page, listen, serve

    check_installed()
    what: tuple[Scenario, int] | str = scenario
    with users_code():
        if not has_page(scenario):
            with telling("loading"):
                chosen = chosen_scenario(scenario, **options)
            _compile(chosen, seed)
            what = chosen, seed
        at = listen(port)
        click.echo(f"{scenario}: http://{HOST}:{at.getsockname()[1]} (Ctrl-C ends)")
        serve(what, at, browser)


def _compile(scenario: Scenario, seed: int) -> None:
    """Compile what a scenario needs, which also tells whether it can be run."""
    from experiments.cli.compiling import saying_when_compiling

    with saying_when_compiling(always=True):
        scenario.model(seed).world.compile()

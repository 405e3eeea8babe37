"""The page on a scenario, and the server that shows it to the browsers of this machine alone."""

from __future__ import annotations

import importlib.util
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agents.model import GridModel
from experiments.show.numbers import duration
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

HOST = "127.0.0.1"
NEEDED = ("solara", "solara.server", "uvicorn", "altair", "solara_assets")
"""Modules of the extra ``view``."""

OFFLINE = {
    "SOLARA_APP": __name__,
    "SOLARA_MODE": "production",
    "SOLARA_TELEMETRY_MIXPANEL_ENABLE": "false",
    "SOLARA_ASSETS_CDN": "",
    "SOLARA_THEME_SHOW_BANNER": "false",
    "SOLARA_THEME_TITLE": "metasched",
}
"""Settings under which solara asks for nothing but from this machine: all is in its assets."""

_shown: tuple[Scenario, int] | None = None


def components() -> list[Any]:
    """Return what `mesa.visualization.SolaraViz` shows of a `GridModel`.

    How far it is and what happened last, and its pictures (`experiments.view.pictures`), each empty
    in a run that has nothing of the kind.
    """
    import solara

    from experiments.view.pictures import PICTURES

    def drawn(draw: Callable[[GridModel], Any]) -> Callable[[GridModel], Any]:
        def component(model: GridModel) -> Any:
            if (figure := draw(model)) is None:
                return solara.Text("")
            return solara.FigureMatplotlib(figure, format="png")

        return component

    return [(each, 0) for each in (_now, *map(drawn, PICTURES))]


def _now(model: GridModel) -> Any:
    """Show how far a run is, what happened last, and a slider of the time that a step takes."""
    import solara

    from experiments.events.happenings import Happenings
    from experiments.live.columns import UNICODE
    from experiments.live.panels import messages_panel

    happenings = Happenings(model)
    happenings.look()
    lines = messages_panel(model, happenings.last, UNICODE, 90, 16)
    text = "\n".join(line.plain for line in lines[1:])
    done = f"{model.world.log.count:,} of {model.workload.count:,} jobs done"
    with solara.Column() as shown:
        if refused := getattr(model, "refused", ""):
            solara.Error(f"{refused}; shown is the scenario as it is")
        solara.Text(f"Simulated time {duration(model.now)}, {done}, {model.messages:,} messages")
        _step_slider(model)
        solara.Preformatted(text, style={"font-size": "11px", "overflow": "hidden"})
    return shown


def _step_slider(model: GridModel) -> Any:
    import solara

    most = solara.use_memo(lambda: 4 * model.interval, [id(model)])

    def change(value: float) -> None:
        model.interval = value

    return solara.SliderFloat(
        "Step, simulated s",
        value=model.interval,
        on_value=change,
        min=most / 400,
        max=most,
        step=most / 400,
    )


def __getattr__(name: str) -> Any:
    """Return the page itself, which solara looks for here."""
    if name != "Page":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import solara
    from mesa.visualization import SolaraViz

    from experiments.view.model import controls, model_class

    @solara.component
    def Page() -> None:  # noqa: N802 as solara calls it
        assert _shown is not None
        scenario, seed = _shown
        model = solara.use_memo(lambda: model_class(scenario)(seed), [])
        SolaraViz(
            model,
            components=components(),
            model_params=controls(scenario, seed),
            name=f"metasched: {scenario.name}",
        )

    return Page


def check_installed() -> None:
    """Raise `GridError` if what serves pages is not installed."""
    for name in NEEDED:
        if not _is_there(name):
            raise GridError(f"view: {name} is not installed; accepted: pip install metasched[view]")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def listen(port: int) -> socket.socket:
    """Return a socket that listens at a port of this machine; 0: at one that is free.

    Raises
    ------
    GridError
        If it is in use, or is none.
    """
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise GridError(f"--port {port}: {reason}; accepted: a free port, or 0 for any") from None
    return found


def serve(scenario: Scenario, seed: int, at: socket.socket, browser: bool) -> None:
    """Show a scenario to browsers until Ctrl-C.

    Parameters
    ----------
    scenario : Scenario
    seed : int
        With which the page begins.
    at : socket
        Where to listen (`listen`).
    browser : bool
        Open a browser.
    """
    global _shown
    _shown = scenario, seed
    os.environ.update(OFFLINE)
    import uvicorn
    from solara.server.starlette import app

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="auto"))
    if browser:
        url = f"http://{HOST}:{at.getsockname()[1]}"
        threading.Timer(1.0, webbrowser.open, [url]).start()
    server.run(sockets=[at])

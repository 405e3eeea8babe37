"""The page on a scenario, and the server that shows it to the browsers of this machine alone."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import socket
import threading
import warnings
import webbrowser
from collections.abc import Callable
from html import escape
from types import FrameType
from typing import TYPE_CHECKING, Any

from agents.model import GridModel
from experiments.show.numbers import counted, duration
from grid.errors import GridError

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

HOST = "127.0.0.1"
NEEDED = ("solara", "solara_assets", "uvicorn", "altair")
"""Modules of the extra ``view``."""

PAGE = re.compile(r"page\s*=[^=]")
"""How a line begins that makes a page."""

WIDTH, HEIGHT = 66, 18
"""Characters and lines of what happened last."""

LOST = "30s"
"""How long a page without a connection is kept; browsers do not tell of each tab that is closed."""

_shown: tuple[Scenario, int] | None = None


def components(model: GridModel | None = None) -> list[Any]:
    """Return what `mesa.visualization.SolaraViz` shows of a `GridModel`.

    How far it is and what happened last, and its pictures (`experiments.view.drawings`), each empty
    in a run that has nothing of the kind.

    Parameters
    ----------
    model : GridModel, optional
        With it, the pictures of which its runs have nothing come last.
    """
    import solara

    from experiments.view.drawings import ordered
    from experiments.view.model import lock_of

    def drawn(draw: Callable[[GridModel], Any]) -> Callable[[GridModel], Any]:
        def component(model: GridModel) -> Any:
            with lock_of(model):
                figure = draw(model)
            if figure is None:
                return solara.Text("")
            return solara.FigureMatplotlib(figure, format="png")

        return component

    return [(each, 0) for each in (_now, *map(drawn, ordered(model)))]


def _now(model: GridModel) -> Any:
    """Show how far a run is, and what happened last."""
    import solara

    from experiments.events.happenings import Happenings
    from experiments.live.columns import UNICODE
    from experiments.live.panels import messages_panel
    from experiments.view.model import lock_of

    with lock_of(model):
        happenings = Happenings(model)
        happenings.look()
        lines = messages_panel(model, happenings.last, UNICODE, WIDTH, HEIGHT)
        done = f"{model.world.log.count:,} of {counted(model.workload.count, 'job')} done"
        if rejected := model.world.state.rejected:
            done += f" ({rejected:,} rejected)"
        told = f"Simulated time {duration(model.now)}, {done}, {counted(model.messages, 'message')}"
    text = escape("\n".join(line.plain for line in lines[1:]))
    with solara.Column() as shown:
        if refused := getattr(model, "refused", ""):
            solara.Error(f"{refused}; shown is the scenario as it is")
        solara.Text(told)
        if chosen := getattr(model, "chosen", ""):
            solara.Text(chosen, style="font-size: 12px")
        for note in getattr(model, "notes", ()):
            solara.Text(note, style="font-size: 12px")
        solara.HTML("pre", text, style="font-size: 11px; line-height: 1.4")
    return shown


def _step_slider(model: GridModel) -> Any:
    """Show a slider of the time that a step takes, which changes the model as it runs."""
    import solara

    begun = solara.use_memo(lambda: solara.reactive(model.interval), [id(model)])
    most = solara.use_memo(lambda: 4 * model.interval, [id(model)])

    def change(value: float) -> None:
        model.interval = value

    return solara.SliderFloat(
        "simulated s",
        value=begun,
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
        begun = solara.use_memo(lambda: model_class(scenario, seed)(seed), [])
        model = solara.use_reactive(begun)

        def leave() -> None:
            model.peek().running = False

        solara.use_effect(lambda: leave, [])  # else it plays on when the page is gone
        with solara.Sidebar(), solara.Card("Step"):  # among the pictures it would move them
            _step_slider(model.value)
        SolaraViz(
            model,
            components=components(begun),
            model_params=controls(scenario, seed),
            name=f"metasched: {scenario.name}",
        )

    return Page


def check_installed() -> None:
    """Raise `GridError` if what serves pages is not installed."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise GridError(f'view: found no {name}; accepted: pip install "metasched[view]"')


def listen(port: int) -> socket.socket:
    """Return a socket that listens at a port of this machine; 0: at one that is free.

    Raises
    ------
    GridError
        If it is in use, or is none.
    """
    found = socket.socket()
    if os.name == "posix":  # where others cannot listen there, too
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        why = getattr(error, "strerror", None) or "found no such port"
        raise GridError(f"--port {port}: {why}; accepted: a free one up to 65535, or 0") from None
    return found


def has_page(path: str) -> bool:
    """Return whether a file is a script that leaves a page, as Mesa's examples do."""
    if not (path.endswith(".py") and os.path.isfile(path)):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return any(PAGE.match(line) for line in file)


def app_of(what: tuple[Scenario, int] | str) -> Any:
    """Return the application that shows a page, and asks nobody but this machine for anything.

    Parameters
    ----------
    what : (Scenario, int) or str
        A scenario and the seed with which its page begins, or the file of a page of one's own,
        which is run.
    """
    global _shown
    if isinstance(what, str):
        os.environ["SOLARA_APP"] = what
    else:
        os.environ["SOLARA_APP"], _shown = __name__, what
    # Of cookies in frames, of Mesa's hooks, of what the server imports.
    warnings.filterwarnings("ignore", module=r"(solara|websockets)\b")
    import solara.settings
    from solara.server import settings

    settings.kernel.cull_timeout = LOST  # else a run whose tab is gone plays on for a day
    settings.main.mode = "production"  # else the page asks solara.dev whether all is well
    settings.telemetry.mixpanel_enable = False
    settings.theme.show_banner = False
    settings.theme.title = "metasched"
    solara.settings.assets.cdn = ""  # what is not among the assets is nowhere
    from solara.server.app import ensure_apps_initialized
    from solara.server.starlette import app

    ensure_apps_initialized()  # which the server would do, and tell errors in its own way
    return app


def serve(app: Any, at: socket.socket, browser: bool, interrupt: Callable[[], object]) -> None:
    """Show a page to browsers.

    Parameters
    ----------
    app : object
        As `app_of` returns it.
    at : socket
        Where to listen (`listen`).
    browser : bool
        Open a browser.
    interrupt : callable
        Ends the process, after Ctrl-C: pages that play are threads, for which it would wait.
    """
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    leave = server.handle_exit

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            interrupt()
        leave(number, frame)

    server.handle_exit = end
    if browser:
        url = f"http://{HOST}:{at.getsockname()[1]}"
        threading.Timer(1.0, webbrowser.open, [url]).start()
    server.run(sockets=[at])

"""Who watches a service: each has the dashboard of its mirror, as large as their own terminal."""

from __future__ import annotations

import json
import selectors
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments.live.controls import keys_of_view
from experiments.live.dashboard import Dashboard
from experiments.live.keyboard import SHOW_CURSOR, Keyboard
from experiments.service.mirror import Mirror
from experiments.service.presence import Door, knock
from grid.errors import GridError

TOP = "top"
"""Name of the socket in the folder of a service."""
MOST = 1 << 20
"""Bytes that a terminal may be behind until it is given up."""
LOOK = 0.25
"""Time between two looks at the size of a terminal, s."""
FOOTER = ["? help", "j jobs", "c clusters", "arrows scroll", "Esc back", "q ends"]


class _Terminal:
    """A terminal at the other end of a socket, as a file; it never makes the service wait."""

    encoding = "utf-8"

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._left = b""
        self.gone = False

    def write(self, text: str) -> int:
        self._left += text.encode(errors="replace")
        return len(text)

    def flush(self) -> None:
        try:
            while self._left and not self.gone:
                self._left = self._left[self._connection.send(self._left) :]
        except BlockingIOError:
            self.gone = len(self._left) > MOST
        except OSError:
            self.gone = True

    def isatty(self) -> bool:
        return True


class Watchers:
    """Has others watch a mirror from their terminals.

    Parameters
    ----------
    model : Mirror
    title : str
    folder : Path
        Of the service.
    ear : selector
        Wakes the service; what is registered with a callable is to be called.
    say : callable
        Is told in a line why somebody can watch no longer.
    """

    def __init__(
        self,
        model: Mirror,
        title: str,
        folder: Path,
        ear: selectors.BaseSelector,
        say: Callable[[str], None],
    ) -> None:
        self._model, self._title, self._ear, self._say = model, title, ear, say
        self._open: dict[socket.socket, tuple[Dashboard, _Terminal]] = {}
        self._door: Door | None = None
        try:
            self._door = Door(folder, TOP, ear, self._let_in)
        except OSError as error:  # of a file system without sockets
            say(f"top: {error.strerror or error}: nobody can watch")

    def update(self) -> None:
        """Draw the dashboards that are due."""
        for connection, (dashboard, terminal) in [*self._open.items()]:
            with self._sparing(connection):
                dashboard.update()
            if terminal.gone:
                self._leave(connection)

    def close(self) -> None:
        """Draw each dashboard once more, and let nobody in any longer."""
        for connection in [*self._open]:
            self._leave(connection)
        if self._door is not None:
            self._door.close()

    def _let_in(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._ear.register(connection, selectors.EVENT_READ, lambda: self._hear(connection))

    def _hear(self, connection: socket.socket) -> None:
        """Take what a watcher says: the size of a terminal, or keys; nothing more: it has left."""
        try:
            said = connection.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            self._leave(connection)
            return
        for line in said.splitlines():
            with self._sparing(connection):
                self._do(connection, json.loads(line))
            if connection.fileno() < 0:  # it has left
                return

    def _do(self, connection: socket.socket, wanted: Any) -> None:
        if connection not in self._open:
            terminal = _Terminal(connection)
            console = Console(
                file=terminal,  # type: ignore[arg-type]
                force_terminal=True,
                color_system=wanted["colors"],
                legacy_windows=False,
            )
            dashboard = Dashboard(self._model, self._title, console, refresh=1.0, prints=False)
            dashboard.view.footer = FOOTER
            self._open[connection] = dashboard, terminal
            console.size = wanted["size"]
            dashboard.__enter__()
        dashboard, _ = self._open[connection]
        if "size" in wanted:
            dashboard.console.size = wanted["size"]
            dashboard.console.clear()
        if do := keys_of_view(dashboard.view).get(wanted.get("key")):
            do()
        dashboard.redraw()

    def _leave(self, connection: socket.socket) -> None:
        dashboard, _ = self._open.pop(connection, (None, None))
        with suppress(Exception):
            if dashboard is not None:
                dashboard.__exit__(None, None, None)
        with suppress(KeyError, ValueError):  # it has left before
            self._ear.unregister(connection)
        connection.close()

    @contextmanager
    def _sparing(self, connection: socket.socket) -> Iterator[None]:
        """Have a picture that cannot be drawn cost its watcher, and not the service."""
        try:
            yield
        except Exception as error:
            self._say(f"top: {type(error).__name__}: {error}")
            self._leave(connection)


def watch(folder: Path, out: Callable[[bytes], object]) -> None:
    """Show the dashboard of a service in this terminal, until it ends or somebody leaves.

    Parameters
    ----------
    folder : Path
        Of the service.
    out : callable
        Takes what the terminal is to show.

    Raises
    ------
    GridError
        If no service is there, or this is no terminal.
    """
    console = Console()
    if not console.is_terminal or console.is_dumb_terminal:
        raise GridError(
            "top: standard output is no terminal that can redraw a picture; accepted: one, or "
            "`metasched queue`"
        )
    try:
        connection = knock(folder, TOP)
    except OSError:
        raise GridError(
            f"{folder}: no service is there now; accepted: the --state of one that is"
        ) from None
    with connection, ExitStack() as open_:
        open_.callback(out, SHOW_CURSOR + b"\n")
        keys = open_.enter_context(Keyboard())
        size, said = None, {"colors": console.color_system}
        looked = 0.0
        connection.setblocking(False)
        while True:
            if time.monotonic() - looked > LOOK and console.size != size:
                looked, size = time.monotonic(), console.size
                _say(connection, {**said, "size": size})
            key = keys.wait(LOOK / 5)
            if key == "q":
                return
            if key:
                _say(connection, {"key": key})
            if not _shown(connection, out):
                print(f"metasched: {folder}: the service has ended", file=sys.stderr)
                return


def _shown(connection: socket.socket, out: Callable[[bytes], object]) -> bool:
    """Show what has come; tell whether more may."""
    try:
        while shown := connection.recv(1 << 16):
            out(shown)
    except BlockingIOError:
        return True
    except OSError:  # it was killed
        pass
    return False


def _say(connection: socket.socket, what: dict[str, Any]) -> None:
    with suppress(OSError):  # that it has ended, the next look tells
        connection.sendall(json.dumps(what).encode() + b"\n")

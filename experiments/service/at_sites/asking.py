"""Asking a site again and again, more seldom while it does not answer."""

from __future__ import annotations

from collections.abc import Callable

from experiments.service.at_sites.batch_system import SilentError


def keep_asking(
    ask: Callable[[], float],
    is_silent: Callable[[str], object],
    wait: Callable[[float], bool],
    pause: float,
    longest: float,
) -> None:
    """Ask a site until somebody says that it is enough.

    Parameters
    ----------
    ask : callable
        Asks, and returns the time until it is to be asked again, s.
    is_silent : callable
        Is told why the site cannot be asked, each time.
    wait : callable
        Waits for so long (s), and tells whether to go on.
    pause : float
        Time that grows while the site has not answered yet, s.
    longest : float
        After which it is asked again at the latest, s.
    """
    while True:
        try:
            pause = ask()
        except Exception as error:  # whatever a driver raises: a site that is lost loses no job
            pause = min(longest, 2 * pause)
            kind = "" if isinstance(error, SilentError) else f"{type(error).__name__}: "
            is_silent(f"{kind}{error}")
        if not wait(pause):
            return

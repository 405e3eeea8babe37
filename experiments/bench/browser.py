"""A browser without a window, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grid.errors import GridError

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a browser with a new profile.

    Raises
    ------
    GridError
        If there is none, or nothing to drive it.
    """
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        raise GridError(f"browser: found none; accepted: {', '.join(NAMES)} on the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise GridError("playwright: not installed; accepted: metasched[test]") from None
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()

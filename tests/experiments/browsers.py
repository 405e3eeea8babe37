"""A real browser without a window, for tests of pages; skipped where there is none."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

REQUIRED = os.environ.get("METASCHED_BROWSER") == "required"
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
def chromium():
    """Give a browser with a new profile; skip the test, or fail if one is required."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        path = None
    if path is None:
        reason = "no chromium, or no playwright to drive it"
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page that is open, and what went wrong on it."""

    def __init__(self, browser, path, **options):
        self.page = browser.new_page(**options)
        self.troubles, self.requests = [], []
        self.page.on("console", lambda message: self.troubles.append(message.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        self.settle()

    def settle(self):
        """Wait until charts are drawn."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"
        )

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

"""A real browser without a window, for tests of pages; skipped where there is none."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager

import pytest

from experiments.bench.browser import chromium
from grid.errors import GridError

REQUIRED = os.environ.get("METASCHED_BROWSER") == "required"


@contextmanager
def browser_or_skip():
    """Give a browser; without one skip the test, or fail if it is required."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(chromium())
        except GridError as error:
            pytest.fail(str(error)) if REQUIRED else pytest.skip(str(error))
        yield found


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

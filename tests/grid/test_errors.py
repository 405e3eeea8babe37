"""Warnings."""

from __future__ import annotations

import logging

from grid.errors import warn


def test_warnings_go_to_logging_where_it_is_set_up_else_to_standard_error(capsys):
    log = logging.getLogger("metasched")
    warn("beware")
    assert capsys.readouterr().err == "metasched: beware\n"
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    log.addHandler(handler)
    try:
        warn("beware of %s")
    finally:
        log.removeHandler(handler)
    assert [(each.getMessage(), each.levelname) for each in records] == [
        ("beware of %s", "WARNING")
    ]
    assert capsys.readouterr().err == ""

"""Small logs, and the commands that read them."""

from __future__ import annotations

import json

from tests.experiments.commands import call

SACCT = """JobIDRaw|User|AllocCPUS|Submit|Elapsed|State
7|anna|4|2024-03-01T08:00:00|01:00:00|COMPLETED
7.batch||4|2024-03-01T08:00:00|01:00:00|COMPLETED
8|bob|0|2024-03-01T09:00:00|00:00:00|CANCELLED
"""


def told(*words):
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refusal(*words):
    result = call(*words)
    assert result.exit_code == 2, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("metasched: ")
    assert result.stdout == ""
    return lines[0]


def record(number, submit, run, allocated, requested=-1, time=-1, user=-1):
    return (
        f"{number} {submit} -1 {run} {allocated} -1 -1 {requested} {time} -1 1 {user}" + 6 * " -1"
    )

"""The command line, as tests call it."""

from __future__ import annotations

from click.testing import CliRunner

from experiments.cli.app import main


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])

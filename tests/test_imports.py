"""Modules can be imported on every system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = """
import importlib, pkgutil, sys

EXTRAS = {("experiments.learning.ppo", name) for name in ("torch", "sb3_contrib")}
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None  # as on Windows
for package in map(importlib.import_module, ("grid", "agents", "experiments", "metasched")):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name.startswith("experiments.scenarios"):  # scripts that make a scenario
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (module.name, error.name) not in EXTRAS:
                raise
"""


@pytest.mark.thorough
def test_no_import_needs_what_windows_lacks():
    command = [sys.executable, "-W", "ignore", "-c", EVERYTHING]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

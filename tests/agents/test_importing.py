"""Tests of `agents.importing`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agents.importing import own_files

SOURCES = {
    "mine.py": "import numpy, random\nfrom lab.rules import sign\nimport agents.schedulers\n",
    "lab/__init__.py": "",
    "lab/rules.py": "from . import deep\nfrom .deep import sign\nfrom ..beyond import all\n",
    "lab/deep.py": "x = '\\d'\ndef later():\n    import lab.inner.lazy, nowhere\n",
    "lab/inner/lazy.py": "import lab.rules\n",  # in a package without a file
    "lab/unused.py": "import aside\n",
    "aside.py": "",
    "site-packages/plugin/__init__.py": "from plugin import part\nimport other\n",
    "site-packages/plugin/part.py": "",
    "site-packages/other.py": "",
}
OF_MINE = {"mine.py", "lab/__init__.py", "lab/rules.py", "lab/deep.py", "lab/inner/lazy.py"}


@pytest.mark.parametrize(
    ("modules", "found"),
    [
        (["mine"], OF_MINE),
        (["mine", "aside", "nowhere", "agents.balancers"], OF_MINE | {"aside.py"}),
        (["plugin.part"], {"plugin/__init__.py", "plugin/part.py"}),
    ],
)
def test_own_files_are_those_named_and_what_they_import(modules, found, tmp_path, monkeypatch):
    """Whatever is loaded, and nothing is."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(tmp_path)
    files = own_files(modules)
    assert {*files} == found
    assert all(Path(path).as_posix().endswith(f"/{name}") for name, path in files.items())
    assert not {"mine", "lab", "plugin"} & {*sys.modules}

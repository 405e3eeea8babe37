"""How Sphinx makes a site of these pages: ``sphinx-build -W -b html docs build/site``."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the packages of this copy

project = "metasched"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
exclude_patterns = ["templates"]
templates_path = ["templates"]
myst_heading_anchors = 3  # links to headings lead there, as on code hosts

html_theme = "furo"
html_title = "metasched"
html_show_copyright = False

default_role = "py:obj"  # `names` in docstrings are links where there is something to lead to
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    # numpydoc takes these aliases of array types for classes and looks for their signature.
    "exclude-members": "JobArray, Stream, Streams",
}
numpydoc_show_class_members = False  # they are there already


def setup(app: Any) -> None:
    """Leave out the fields of named tuples, of which their class tells what they are."""
    app.connect("autodoc-skip-member", _is_tuple_field)


def _is_tuple_field(
    app: Any, what: str, name: str, found: Any, skip: bool, options: Any
) -> bool | None:
    told = str(getattr(found, "__doc__", None) or "")
    return True if told.startswith("Alias for field number") else None

"""Objects that tell people what they are, in a terminal and in a notebook."""

from __future__ import annotations

from grid.lazy import exported

_words = exported(
    __name__,
    dict.fromkeys(("text_of", "html_of"), "experiments.show.notebook"),
)
"""Found by name: the module knows all that is shown, which need not know it."""


class Shown:
    """What `experiments.show.notebook` has words for."""

    def __repr__(self) -> str:
        return str(_words("text_of")(self))

    def _repr_html_(self) -> str:
        return str(_words("html_of")(self))

"""Objects that tell people what they are, in a terminal and in a notebook."""

from __future__ import annotations


class Shown:
    """What `experiments.reporting.notebook` has words for."""

    def __repr__(self) -> str:
        from experiments.reporting.notebook import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from experiments.reporting.notebook import html_of

        return html_of(self)

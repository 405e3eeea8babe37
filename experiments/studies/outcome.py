"""What a study came to, in tables and in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from experiments.show.display import Shown
from experiments.studies.outputs import plain
from experiments.studies.sentences import sentences
from experiments.studies.tables import StudyTables


@dataclass(frozen=True, eq=False, repr=False)
class StudyOutcome(StudyTables, Shown):
    """What a study came to, as far as it went: all that `StudyTables` has, and in words."""

    def sentences(self) -> list[str]:
        """Return in plain words what was compared, what was found and what is missing."""
        return list(sentences(self))

    def summary(self) -> dict[str, Any]:
        """Return the outcome ready for JSON: None where nothing defines a number.

        Returns
        -------
        dict
            ``title``, ``metric``, ``more_is_better``, ``runs`` (finished), ``planned``, ``ended``;
            ``points``, ``ranking`` and ``effects``, their rows; ``sentences``; ``provenance``.
        """
        return {
            "title": self.title,
            "metric": self.metric,
            "more_is_better": self.study.more_is_better,
            "runs": len(self.runs),
            "planned": self.planned,
            "ended": self.ended,
            "points": plain(self.points),
            "ranking": plain(self.ranking),
            "effects": plain(self.effects),
            "sentences": self.sentences(),
            "provenance": self.provenance,
        }

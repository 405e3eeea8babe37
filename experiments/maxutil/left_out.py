"""Jobs of logs that are too large to count."""

from __future__ import annotations

from typing import NamedTuple

from experiments.show.numbers import counted


class LeftOut(NamedTuple):
    """The jobs of a log that are left out, and why.

    Attributes
    ----------
    jobs : int
        How many.
    most : int
        They are of more processors than this.
    parts : bool
        What is drawn of the log are parts of a job, though it could be the job, and a larger one.

    Examples
    --------
    >>> print(LeftOut(144, 32, True))
    144 jobs of more than 32 processors left out (with --draws 1 a size is that of a whole job)
    """

    jobs: int
    most: int
    parts: bool = False

    def __str__(self) -> str:
        hint = " (with --draws 1 a size is that of a whole job)" if self.parts else ""
        jobs, processors = counted(self.jobs, "job"), counted(self.most, "processor")
        return f"{jobs} of more than {processors} left out{hint}"

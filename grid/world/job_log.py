"""What is kept of the jobs that left a world, and who is told of them."""

from __future__ import annotations

from collections.abc import Callable

from grid.world.finished import Records, last
from grid.world.storage import CHUNK, Storage


class JobLog:
    """The jobs that left: completed, rejected, or withdrawn.

    Attributes
    ----------
    consumers : list of callable
        Each is handed the jobs that left, a few thousand at a time, as `stream` says.
    keeping : bool
        All of them are kept, so that `records` knows of them.
    watched : bool
        Somebody looks at each instant, and says by `forget` when that is done.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._chunks: list[Records] = []
        self._rows = 0  # in them
        self.keeping = True
        self.watched = False
        self.consumers: list[Callable[[Records], None]] = []

    @property
    def count(self) -> int:
        """How many jobs have left."""
        state = self._storage.state
        return state.completed + state.rejected + state.withdrawn

    def stream(self, consume: Callable[[Records], None] | None) -> None:
        """Keep no jobs that left: hand them to a consumer, or to nobody.

        Memory then does not grow with the number of jobs. To be called before any job leaves.
        `records` then knows of none, and `latest` of a few thousand, or of none if nobody wants
        them.

        Parameters
        ----------
        consume : callable or None
            Takes a few thousand jobs at a time, in order of leaving, whenever there are enough and
            at `flush`; one of the `consumers`. None: nobody wants them, which is fastest;
            `World.statistics` are kept anyway.
        """
        self.keeping = False
        self._storage.state.recording = int(consume is not None)
        if consume is not None:
            self.consumers.append(consume)

    def flush(self) -> None:
        """Take the jobs that left out of the kernel's tables and hand them to the `consumers`."""
        if not self._storage.state.finished:
            return
        kept = self._in_tables()
        records = Records(kept.rows.copy(), kept.takes.copy())
        self._storage.state.finished = self._storage.state.splits = 0
        self._chunks.append(records)
        self._rows += len(records)
        for consume in self.consumers:
            consume(records)
        if not self.watched:
            self.forget()

    def forget(self) -> None:
        """Keep no more than is wanted, once all who watch have seen the jobs that left."""
        while not self.keeping and len(self._chunks) > 1:
            if self._rows - len(self._chunks[0]) < CHUNK:
                break
            self._rows -= len(self._chunks.pop(0))

    def latest(self, count: int) -> Records:
        """Return the last `count` jobs that left, oldest first, or as many as there are.

        All that left since the `World.watcher` looked last are there, if there is one.
        """
        return last([*self._chunks, self._in_tables()], count)

    def records(self) -> Records:
        """Return all jobs that left, in order of leaving; none if they are not kept."""
        if not self.keeping:
            tables = self._storage.tables
            return Records(tables.finished[:0], tables.splits[:0])
        self.flush()
        chunks = self._chunks or [self._in_tables()]
        records = last(chunks, sum(map(len, chunks)))
        self._chunks[:] = [records]
        return records

    def _in_tables(self) -> Records:
        """Return the jobs that left and whose rows the kernel still keeps."""
        state, tables = self._storage.state, self._storage.tables
        return Records(tables.finished[: state.finished], tables.splits[: state.splits])

"""Files that grow with a run, and that a run resumed from a checkpoint goes on with."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from grid.errors import GridError

_PIECE = 1 << 20


class Growing:
    """A new text file, of which a pickle remembers how far it was written.

    Parameters
    ----------
    path : Path
        A file there is replaced.
    place : Path, optional
        Where it goes once it is complete, if elsewhere.

    Attributes
    ----------
    path, place : Path
    whole : bool
        All could be written so far.
    """

    def __init__(self, path: Path, place: Path | None = None) -> None:
        self.path, self.place = path, place or path
        self.whole = True
        self._size = 0
        self._crc = 0
        self._file: BinaryIO = path.open("wb")

    def write(self, text: str) -> None:
        """Write text behind what was written before."""
        data = text.encode()
        with self._noting():
            self._file.write(data)
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def flush(self) -> None:
        """Have others see all that was written."""
        with self._noting():
            self._file.flush()

    def sync(self) -> None:
        """Have all that was written on the disk."""
        with self._noting():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which may be done again."""
        self._file.close()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Note if not all can be written."""
        try:
            yield
        except OSError:
            self.whole = False
            raise

    def __getstate__(self) -> dict[str, Any]:
        places = {"path": self.path.absolute(), "place": self.place.absolute()}
        return {**places, "whole": True, "_size": self._size, "_crc": self._crc}

    def go_on(self, path: Path, source: Path) -> None:
        """Open the file as it was when it was pickled; what was written since is left out.

        Parameters
        ----------
        path : Path
            Where it is to be.
        source : Path
            Where it is now, there or elsewhere; elsewhere it stays as it is.

        Raises
        ------
        GridError
            If it does not begin with what had been written.
        OSError
            If it cannot be read or written.
        """
        self.path = path
        with source.open("rb") as old:
            self._file = path.open("r+b" if path == source else "wb")
            crc, left = 0, self._size
            while left and (piece := old.read(min(left, _PIECE))):
                crc, left = zlib.crc32(piece, crc), left - len(piece)
                if path != source:
                    self._file.write(piece)
        if left or crc != self._crc:
            self._file.close()
            raise GridError(
                f"{source}: found other contents than the run had written; accepted: the file as "
                "it was at the checkpoint, or longer"
            )
        self._file.seek(self._size)
        self._file.truncate()

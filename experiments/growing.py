"""Files that grow with a run, and that a run resumed from a checkpoint goes on with."""

from __future__ import annotations

import os
import zlib
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
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        self._crc = 0
        self._file: BinaryIO = path.open("wb")

    def write(self, text: str) -> None:
        """Write text behind what was written before."""
        data = text.encode()
        self._file.write(data)
        self._size += len(data)
        self._crc = zlib.crc32(data, self._crc)

    def flush(self) -> None:
        """Have others see all that was written."""
        self._file.flush()

    def sync(self) -> None:
        """Have all that was written on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, which may be done again."""
        self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path.absolute(), "_size": self._size, "_crc": self._crc}

    def go_on(self, path: Path) -> None:
        """Open the file as it was when it was pickled; what was written since is cut off.

        Parameters
        ----------
        path : Path
            Where it is now.

        Raises
        ------
        GridError
            If it does not begin with what had been written.
        OSError
            If it cannot be read or written.
        """
        self.path = path
        self._file = path.open("r+b")
        crc, left = 0, self._size
        while left and (piece := self._file.read(min(left, _PIECE))):
            crc, left = zlib.crc32(piece, crc), left - len(piece)
        if left or crc != self._crc:
            self._file.close()
            raise GridError(
                f"{path}: found other contents than the run had written; accepted: the file as it "
                "was at the checkpoint, or longer"
            )
        self._file.seek(self._size)
        self._file.truncate()

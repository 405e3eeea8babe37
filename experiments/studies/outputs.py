"""Files that a study leaves behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.run.files import made, writing
from experiments.run.replacing import replace_all, scratch

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def new_files(folder: Path, gone: Collection[str] = ()) -> Iterator[Path]:
    """Give a folder for new files, which go to `folder` together, over those of their names.

    It is made if it is not there. Files of the names in `gone` are removed.

    Raises
    ------
    GridError
        If they cannot be written.
    """
    with writing(folder, "results", "folder"), made(folder), scratch(folder) as new:
        yield new
        replace_all(new, folder, gone)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index."""
    table.to_csv(path, index=False, lineterminator="\n")


def plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, ready for JSON: None where nothing defines a number."""
    rows: list[dict[str, Any]] = table.astype(object).where(table.notna(), None).to_dict("records")
    return rows

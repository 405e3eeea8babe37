"""Lines of text for a console of a known size: bars, sparklines, tables whose columns may drop.

Nothing here wraps, and no number is cut: what does not fit is left out whole. Widths are those of
cells of the console, of which a wide character takes two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, takewhile

from rich.cells import cell_len, set_cell_size
from rich.text import Text

GAP = 2
"""Cells between two columns."""

_PARTS_OF_NUMBERS = "0123456789.,"


@dataclass(frozen=True)
class Glyphs:
    """Characters that pictures are made of.

    Attributes
    ----------
    full, empty, down : str
        Of a bar: what is in use, what is not, what is out of order.
    rule, ellipsis : str
    levels : str
        Of a sparkline, the lowest first.
    """

    full: str
    empty: str
    down: str
    rule: str
    ellipsis: str
    levels: str


UNICODE = Glyphs("▇", "·", "x", "─", "…", "▁▂▃▄▅▆▇█")
ASCII = Glyphs("#", ".", "x", "-", "...", "_.-=+*%#")


def shorten(text: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """Return a text that is at most `width` cells wide, with an ellipsis for what is cut off.

    Examples
    --------
    >>> shorten("C4 finishes job 1999", 18), shorten("東京の計算センター", 9)
    ('C4 finishes job …', '東京の計…')
    """
    if not text.isprintable():
        text = "".join(each if each.isprintable() else " " for each in text)
    if glyphs is ASCII:
        text = text.encode("ascii", "replace").decode()
    if cell_len(text) <= width:
        return text
    kept = set_cell_size(text, max(0, width - len(glyphs.ellipsis))).rstrip()
    if text[len(kept)] in _PARTS_OF_NUMBERS:
        kept = kept.rstrip(_PARTS_OF_NUMBERS) or kept
    return set_cell_size(kept + glyphs.ellipsis, min(width, cell_len(kept + glyphs.ellipsis)))


def shorten_apart(texts: Sequence[str], width: int, glyphs: Glyphs = UNICODE) -> list[str]:
    """Return texts as `shorten` does; what those that became the same have in common goes first.

    Examples
    --------
    >>> shorten_apart(["grid_cluster1", "grid_cluster2", "C3"], 8)
    ['gr…1', 'gr…2', 'C3']
    """
    short = [shorten(text, width, glyphs) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, cut in zip(texts, short, strict=True):
        alike.setdefault(cut, set()).add(text)
    for index, text in enumerate(texts):
        if len(same := alike[short[index]]) > 1:
            alike_so_far = takewhile(lambda signs: len({*signs}) == 1, zip(*same, strict=False))
            common = "".join(signs[0] for signs in alike_so_far)
            head = set_cell_size(common, max(0, width // 3)).rstrip()
            short[index] = shorten(f"{head}{glyphs.ellipsis}{text[len(common) :]}", width, glyphs)
    return short


def share(part: float, whole: float, width: int) -> int:
    """Return how many of `width` cells stand for a part: all or none only if it is all or none.

    Examples
    --------
    >>> share(1, 1000, 10), share(999, 1000, 10), share(2000, 1000, 10)
    (1, 9, 10)
    """
    if part <= 0 or whole <= 0:
        return 0
    if part >= whole:
        return width
    return min(max(round(width * part / whole), 1), width - 1)


def bar(used: float, whole: float, width: int, glyphs: Glyphs, *, down: float = 0) -> Text:
    """Return a bar of what is used, and of what is out of order, of a whole."""
    full = share(used, whole, width)
    broken = min(share(down, whole, width), width - full)
    return Text.assemble(
        (glyphs.full * full, "green" if used <= whole else "red"),
        (glyphs.empty * (width - full - broken), "dim"),
        (glyphs.down * broken, "red"),
    )


def sparkline(values: Sequence[float], width: int, glyphs: Glyphs) -> str:
    """Return the course of some numbers, the first and the last included, in `width` cells.

    Examples
    --------
    >>> sparkline([8, 4, 2, 1], 10, UNICODE), sparkline(range(100), 4, UNICODE)
    ('█▄▂▁', '▁▃▆█')
    """
    count = min(len(values), width)
    if count == 0:
        return ""
    step = (len(values) - 1) / max(1, count - 1)
    chosen = [values[round(index * step)] for index in range(count)]
    lowest, top = min(chosen), len(glyphs.levels) - 1
    scale = top / ((max(chosen) - lowest) or 1.0)
    return "".join(glyphs.levels[round((value - lowest) * scale)] for value in chosen)


def fit(items: Sequence[str], width: int, separator: str = "   ") -> str:
    """Return as many of the first items, each whole, as fit beside each other.

    Examples
    --------
    >>> fit(["12 jobs", "3,456 messages", "ETA 0:05"], 24), fit(["3,456 messages", "12 jobs"], 9)
    ('12 jobs   3,456 messages', '')
    """
    lines = accumulate(items, lambda line, item: f"{line}{separator}{item}")
    return max(takewhile(lambda line: cell_len(line) <= width, lines), default="", key=len)


def fill(items: Sequence[str], width: int) -> list[str]:
    """Return the items, each whole, separated by commas, in as many lines as they take.

    Examples
    --------
    >>> fill(["order 421", "transfer 932", "schedule 52"], 25)
    ['order 421, transfer 932,', 'schedule 52']
    """
    lines: list[str] = []
    for item in items:
        if lines and cell_len(f"{lines[-1]}, {item},") <= width:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    head : str
    cell : callable
        Takes the row and the width, returns the cell, no wider than that.
    least, most : int
        Widths that it can have.
    rank : int
        Columns of the highest rank are dropped first.
    right : bool
        Cells are set to the right.
    """

    head: str
    cell: Callable[[int, int], str | Text]
    least: int
    most: int
    rank: int
    right: bool = False


def numbers(head: str, cells: Sequence[str], rank: int, least: int = 0) -> Column:
    """Return a column of numbers, which are never cut, nor narrower than `least`."""
    width = max(cell_len(head), least, *(cell_len(cell) for cell in cells), 0)
    return Column(head, lambda row, _: cells[row], width, width, rank, right=True)


def names(head: str, cells: Sequence[str], glyphs: Glyphs) -> Column:
    """Return a column of names, the long ones cut if there is no room."""
    longest = max(cell_len(head), *(cell_len(cell) for cell in cells), 0)
    return Column(
        head,
        lambda row, width: Text(shorten_apart(cells, width, glyphs)[row], "bold"),
        min(longest, 7),
        min(longest, 40),
        rank=0,
    )


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit beside each other, without those of the highest ranks."""
    kept = list(columns)
    while len(kept) > 1 and sum(column.least + GAP for column in kept) - GAP > width:
        kept.remove(max(kept, key=lambda column: column.rank))
    return kept


def table(columns: Sequence[Column], rows: int, width: int) -> list[Text]:
    """Return a table's head and rows, none wider than `width`.

    Columns that do not fit are dropped; what room is left makes the others wider, where they can
    use it.
    """
    kept = fitting(columns, width)
    widths = [column.least for column in kept]
    spare = width - sum(widths) - GAP * (len(kept) - 1)
    growing = [index for index, column in enumerate(kept) if column.most > column.least]
    for index in cycle(growing):
        if spare <= 0 or all(widths[i] == kept[i].most for i in growing):
            break
        if widths[index] < kept[index].most:
            widths[index] += 1
            spare -= 1
    lines = [_line(kept, widths, [Text(column.head, "dim") for column in kept])]
    for row in range(rows):
        cells = [column.cell(row, size) for column, size in zip(kept, widths, strict=True)]
        lines.append(_line(kept, widths, cells))
    return lines


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str | Text]) -> Text:
    line = Text()
    end = 0
    for column, width, cell in zip(columns, widths, cells, strict=True):
        used = cell_len(cell) if isinstance(cell, str) else cell.cell_len
        at = end + width - used if column.right else end
        line.append(" " * (at - line.cell_len))
        line.append(cell)
        end += width + GAP
    return line


def rule(words: str, width: int, glyphs: Glyphs, style: str = "bold") -> Text:
    """Return a line across the console that carries a heading."""
    line = Text.assemble(
        (glyphs.rule * 2, "dim"), " ", (shorten(words, width - 6, glyphs), style), " "
    )
    return line.append(glyphs.rule * max(0, width - line.cell_len), "dim")

"""Records whose fields ``|`` parts, where texts may hold ``|`` and ends of lines themselves.

``sacct -P`` quotes nothing, so a line may have more parts than there are columns, and a record may
spread over several lines. What a column may look like tells which parts are one field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

SEPARATOR = "|"

_TIME = r"\d{4}-\d\d-\d\dT[\d:+-]+|\d{1,12}|Unknown|None|N/A"
_DURATION = r"(\d+-)?(\d+:)?\d+:\d+(\.\d+)?|UNLIMITED|Partition_Limit|INVALID|Unknown"
_KINDS = {
    r"\d+(_(\d+|\[[^\]|]*\]))?(\+\d+)?(\.\S*)?": "JobID JobIDRaw",
    _TIME: "Submit Start End Eligible",
    f"{_DURATION}": "Elapsed",
    f"({_DURATION})?": """CPUTime TotalCPU UserCPU SystemCPU Suspended Timelimit Reserved Planned
        ResvCPU PlannedCPU AveCPU MinCPU""",
    r"\d+": "ElapsedRaw NCPUS AllocCPUS",
    r"(\d+(\.\d+)?[KMGTP]?)?": """AllocNodes NNodes ReqNodes ReqCPUS NTasks UID GID Priority
        TimelimitRaw CPUTimeRAW AssocID DBIndex QOSRAW ResvCPURAW PlannedCPURAW ConsumedEnergy
        ConsumedEnergyRaw AveRSS MaxRSS AveVMSize MaxVMSize AvePages MaxPages MinCPUTask
        MaxRSSTask MaxVMSizeTask MaxPagesTask""",
    r"[A-Z_]+( by \S+)?": "State",
    r"(\d+:\d+)?": "ExitCode DerivedExitCode",
    r"([\d.]+[KMGTP]?[cn]?|\?)?": "ReqMem",
    r"([\w/:.-]+=[^|, ]*(,[\w/:.-]+=[^|, ]*)*)?": "AllocTRES ReqTRES",
    r"\w*": "Layout BlockID",
}
PATTERNS = {name: re.compile(kind) for kind, names in _KINDS.items() for name in names.split()}
"""What fields look like, of columns that cannot hold just anything."""

TEXTS = frozenset(
    (
        *("JobName", "Comment", "AdminComment", "SystemComment", "Constraints", "SubmitLine"),
        *("Extra", "WorkDir", "Container", "WCKey", "Reservation", "StdIn", "StdOut", "StdErr"),
        "Account",
    )
)
"""Columns of texts that users write, which may hold the separator."""


MOST_LINES = 1000
"""Lines that one record may spread over."""

LONGEST = 1_000_000
"""Characters of one record, after which it ends with its line."""

MOST_SPARE = 1000
"""Separators that the texts of one record may hold."""


def records(lines: Iterable[str], columns: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line of each record, from 1, and its parts.

    A line of too few parts goes on in the next, unless that is a record by itself; a record that
    is cut off so has fewer parts than there are columns.
    """
    first, length, parts = 0, 0, list[str]()
    for line_number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        found = text.split(SEPARATOR)
        if parts and len(found) >= columns:
            yield first, parts
            parts = []
        if not parts:
            if not text.strip():
                continue
            first, length, parts = line_number, 0, found
        else:
            parts[-1] += "\n" + found[0]
            parts += found[1:]
        length += len(text)
        if len(parts) >= columns or line_number - first >= MOST_LINES or length >= LONGEST:
            yield first, parts
            parts = []
    if parts:
        yield first, parts


def fields(parts: Sequence[str], columns: Sequence[str], wanted: Iterable[str]) -> dict[str, str]:
    """Return the fields of the columns wanted; those are left out that cannot be told.

    Examples
    --------
    >>> fields(["7", "my", "job", "12"], ["JobID", "JobName", "NCPUS"], ["JobID", "NCPUS"])
    {'JobID': '7', 'NCPUS': '12'}
    """
    if len(parts) == len(columns):
        return {name: parts[columns.index(name)] for name in wanted}
    if len(parts) - len(columns) > MOST_SPARE:
        return {}
    before = _ends(parts, columns)
    after = _ends(parts[::-1], columns[::-1])
    count = len(parts)
    found = {}
    for name in wanted:
        place = columns.index(name)
        values = {
            parts[i]
            for i in before[place]
            if i < count
            and count - i - 1 in after[len(columns) - place - 1]
            and _fits(name, parts[i])
        }
        if len(values) == 1:
            found[name] = values.pop()
    return found


def _ends(parts: Sequence[str], columns: Sequence[str]) -> list[set[int]]:
    """Return, for each number of columns, how many parts the first of them may take."""
    spare = len(parts) - len(columns)
    ends = [{0}]
    for name in columns:
        before, most = ends[-1], len(ends) + spare  # each column that follows takes one at least
        if name in TEXTS:
            ends.append(set(range(min(before) + 1, most + 1)) if before else set())
        else:
            ends.append({i + 1 for i in before if _fits(name, parts[i])})
    return ends


def _fits(name: str, part: str) -> bool:
    pattern = PATTERNS.get(name)
    return pattern is None or pattern.fullmatch(part) is not None

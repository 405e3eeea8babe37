"""All that was seen of clusters that are watched, in one file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from typing import Any

from experiments.service.database import Database
from experiments.service.shadow.look import Look, Seen

_FACTS = [name for name in Seen._fields if name not in ("id", "submitted")]
_TABLES = """
CREATE TABLE jobs (
    site TEXT NOT NULL,
    id TEXT NOT NULL,
    submitted REAL NOT NULL,
    eligible REAL,
    started REAL,
    ended REAL,
    size INTEGER NOT NULL,
    requested REAL,
    user INTEGER NOT NULL,
    state TEXT NOT NULL,
    restarts INTEGER NOT NULL,
    last REAL NOT NULL,
    known REAL,
    PRIMARY KEY (site, id, submitted)
) WITHOUT ROWID;
CREATE INDEX of_ends ON jobs (known);
CREATE TABLE looks (
    site TEXT NOT NULL,
    time REAL NOT NULL,
    up INTEGER NOT NULL,
    others INTEGER NOT NULL,
    PRIMARY KEY (site, time)
) WITHOUT ROWID;
CREATE TABLE periods (begin REAL NOT NULL, end REAL PRIMARY KEY, told TEXT NOT NULL);
"""
_COLUMNS = ("site", *Seen._fields, "last", "known")
_SEE = f"""
INSERT INTO jobs ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
ON CONFLICT DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in (*_FACTS, "last"))},
    known = excluded.known
WHERE jobs.ended IS NULL
"""
_REQUEUED = """
UPDATE jobs SET ended = ?, known = ?, state = 'REQUEUED'
WHERE site = ? AND id = ? AND submitted < ? AND restarts < ? AND started <= ? AND ended IS NULL
"""


class Sightings(Database):
    """What was seen: jobs, by site, number and submission; looks at sites; periods told of.

    ``last`` is when a job was seen last, ``known`` when it was first seen to have ended. Slurm
    gives numbers out again, and puts a job back into the queue under its number, as if it were
    submitted then: another job, and the end of what has run.

    Parameters
    ----------
    folder : Path
    make : bool
        Make it if it is not there.
    """

    file, tables, number, whose = "shadow.db", _TABLES, 1, "shadow"

    def record(self, site: str, look: Look) -> float | None:
        """Keep what a site tells now; return when it told something last, None if never."""
        with self.at_once():
            now = time.time()  # within: what is written later has a later time
            ((before,),) = self._asked("SELECT max(time) FROM looks WHERE site = ?", (site,))
            up = look.processors.size - look.processors.other
            self._asked("REPLACE INTO looks VALUES (?, ?, ?, ?)", (site, now, up, look.others))
            known = ((*job, now, None if job.ended is None else now) for job in look.jobs)
            self._file.executemany(_SEE, ((site, *row) for row in known))
            again = [(job.submitted, job) for job in look.jobs if job.restarts]
            self._file.executemany(
                _REQUEUED,
                ((at, now, site, job.id, at, job.restarts, at) for at, job in again),
            )
        return None if before is None else float(before)

    def last_look(self) -> float | None:
        """Return when any site was looked at last."""
        ((found,),) = self._asked("SELECT max(time) FROM looks", ())
        return found

    def looks(self, since: float) -> Iterator[sqlite3.Row]:
        """Yield all looks since a time."""
        yield from self._asked("SELECT * FROM looks WHERE time >= ? ORDER BY time", (since,))

    def jobs(self, since: float) -> Iterator[sqlite3.Row]:
        """Yield the jobs that were not known to have ended at a time."""
        asked = "SELECT * FROM jobs WHERE known IS NULL OR known > ? ORDER BY submitted, site, id"
        yield from self._asked(asked, (since,))

    def tell(self, begin: float, end: float, told: Mapping[str, Any]) -> None:
        """Keep what is told of a period."""
        self._asked("REPLACE INTO periods VALUES (?, ?, ?)", (begin, end, json.dumps(told)))

    def periods(self) -> list[dict[str, Any]]:
        """Return what was told of periods, in order."""
        rows = self._asked("SELECT told FROM periods ORDER BY end", ())
        return [json.loads(row["told"]) for row in rows]

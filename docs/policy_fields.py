"""Write the tables of docs/policy-fields.md, from the table that the code uses itself."""

import re
from collections.abc import Iterable
from pathlib import Path

from grid.kernel.policies import fields
from grid.kernel.policies.fields import BOTH, Field

PAGE = Path(__file__).with_name("policy-fields.md")
TABLES = {
    "Jobs": fields.JOBS,
    "Clusters": fields.CLUSTERS,
    "Links": fields.LINKS,
    "Queues": fields.QUEUES,
    "The rest of `known`": fields.SCALARS,
    "What a compiled policy writes": fields.WRITTEN,
}
"""By heading of the page."""


def table(rows: Iterable[Field]) -> str:
    """Return fields as a table."""
    lines = ["| field | unit | tier | is | meaning |", "|---|---|---|---|---|"]
    for row in rows:
        tier = "both" if row.tier == BOTH else row.tier
        lines.append(f"| `{row.name}` | {row.unit} | {tier} | {row.truth} | {row.meaning} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """Return the page with the first table below each heading as the code has it today."""
    for heading, rows in TABLES.items():
        below = re.compile(rf"(^## {re.escape(heading)}\n[^#|]*)(?:\|.*\n)+", re.MULTILINE)
        page, found = below.subn(lambda match, rows=rows: match[1] + table(rows), page)
        assert found == 1, heading
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

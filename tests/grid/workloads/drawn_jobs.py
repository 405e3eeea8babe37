"""Jobs as hypothesis draws them."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from grid.jobs import MAX_COMPONENTS, ORDERED, REQUEST_KINDS, SHORTEST_RUN, job_table

seconds = st.floats(0, 1e12)
splits = st.lists(st.integers(1, 10**6), min_size=1, max_size=MAX_COMPONENTS)


@st.composite
def job_rows(draw, clusters=0):
    """Draw jobs in order of arrival, with all that can be said of a job."""
    rows = job_table(draw(st.integers(1, 6)))
    rows["arrival"] = sorted(draw(seconds) for _ in rows)
    for row in rows:
        row["number"] = draw(st.integers(-5, 2**53 - 1))
        row["runtime"] = draw(st.floats(SHORTEST_RUN, 1e9))
        row["requested_time"] = row["runtime"] * draw(st.sampled_from([1.0, 1.7, math.inf]))
        row["deadline"] = draw(st.one_of(seconds, st.just(math.inf)))
        row["origin"] = draw(st.integers(-1, clusters - 1))
        row["computation_fraction"] = draw(st.floats(0, 1))
        row["ppbw"] = draw(st.floats(0, 1e4))
        row["user"], row["application"] = (draw(st.integers(-1, 2**53 - 1)) for _ in range(2))
        parts = draw(splits)
        row["size"] = sum(parts)
        if draw(st.booleans()):
            row["request"] = draw(st.integers(0, len(REQUEST_KINDS) - 1))
            if row["request"] == ORDERED:  # clusters may be left out
                parts = draw(st.permutations(parts + [0] * (MAX_COMPONENTS - len(parts))))
            row["components"][: len(parts)] = parts
    return rows

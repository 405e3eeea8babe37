"""What `maxutil` claims, and how our formulas and runs judge it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from experiments.papers.claims_report import Claim, claim
from experiments.papers.maxutil import verdicts
from experiments.papers.maxutil.logs import Log
from experiments.papers.maxutil.paper_tables import TABLE_5
from experiments.papers.maxutil.systems import (
    FEW_JUMPS,
    MANY_JUMPS,
    STUDIED,
)

_tables = partial(claim, ("tables",), where="Tables 3, 4")
_poisson = partial(claim, ("poisson",), where="Sections 5, 6")


def _of(where: str) -> Callable[..., Claim]:
    return partial(claim, ("figures",), where=where)


_figure_3, _figure_4, _figure_5 = _of("Fig. 3"), _of("Fig. 4"), _of("Fig. 5")
_figure_6, _figure_8 = _of("Fig. 6"), _of("Fig. 8")
_service, _section_8 = _of("Section 7.1"), _of("Section 8")

CLAIMS = (
    _tables("The exact columns, to 0.0005", verdicts.exact_columns, "20 rows"),
    _tables("The approximation, to 0.001", verdicts.approximate_column, "20 rows"),
    _tables(
        "Simulation in heavy traffic agrees with what is exact, to 0.001",
        verdicts.simulated_columns,
    ),
    _poisson(
        "Simulation with Poisson arrivals agrees with what is exact, one cluster and ordered "
        "requests, to 0.002",
        verdicts.arriving,
    ),
    _poisson(
        "Of unordered requests both kinds of simulation agree, to 0.002",
        verdicts.both_ways,
        "ours",
    ),
    _tables("The paper's simulations are ours, to 0.005", verdicts.paper_simulations, "20 rows"),
    _tables(
        "The match of approximation and simulation for unordered jobs is quite reasonable "
        "(to 0.01)",
        verdicts.approximation,
    ),
    _tables(
        "Losses fall from ordered to unordered to total requests (all but U[13,16], of which "
        "always just two jobs run)",
        verdicts.freedom,
    ),
    _figure_3(
        "Losses fall from ordered to unordered to total requests, for the five laws of Table 5",
        verdicts.figure_3,
    ),
    _figure_3(
        "From ordered to unordered the loss is cut in half, roughly (0.4 to 0.6), for all but one "
        "D(q) on [1,32]",
        verdicts.halved,
    ),
    *(
        _figure_3(
            f"Losses are larger for larger means, variation and maxima: {request} requests",
            verdicts.poorer,
            request=request,
        )
        for request in ("ordered", "unordered", "total")
    ),
    _figure_4(
        "Dependent sizes are poorer where large components are rare",
        verdicts.dependent,
        laws=TABLE_5[:4],
        poorer=True,
    ),
    _figure_4(
        "For D(0.894) on [1,32] independent sizes are poorer than dependent ones",
        verdicts.dependent,
        laws=TABLE_5[4:],
        poorer=False,
    ),
    _figure_4("For dependent sizes only the mean matters (to 0.01)", verdicts.only_the_mean),
    _service(
        "Losses from deterministic to hyperexponential service (cv 10), for ordered and for "
        f"unordered requests (to 0.005); taken to be about {STUDIED}",
        verdicts.service_numbers,
        "0.239 to 0.266, 0.103 to 0.115",
    ),
    _service(
        f"Service times have no large impact (below a quarter), {STUDIED}",
        verdicts.service_matters_little,
        "about 11 %",
        laws=[STUDIED],
    ),
    _service(
        "Service times have no large impact (below a quarter), all five laws of Table 5",
        verdicts.service_matters_little,
        "ours",
        laws=TABLE_5,
    ),
    _section_8(
        f"Laws of sizes of one mean matter more than laws of service times, {STUDIED}",
        verdicts.sizes_matter_more,
        laws=[STUDIED],
    ),
    _section_8(
        "Laws of sizes of one mean matter more than laws of service times, all laws of the mean of "
        f"{STUDIED}",
        verdicts.sizes_matter_more,
        "ours",
        laws=TABLE_5[:3],
    ),
    _figure_5(
        "FPFS(5) gains little (below 0.03)",
        verdicts.overtaking,
        jumps=FEW_JUMPS,
        low=-0.03,
        high=0.03,
    ),
    _figure_5(
        "FPFS(50) gains about 0.1 (0.06 to 0.14)",
        verdicts.overtaking,
        jumps=MANY_JUMPS,
        low=0.06,
        high=0.14,
    ),
    _figure_6("First Fit and Worst Fit do not differ very much", verdicts.placement),
    _figure_8(
        "Jobs that would fit on one cluster lose less when they are co-allocated",
        verdicts.coallocation,
    ),
    _section_8("Co-allocation can lose much (more than half)", verdicts.large),
    claim(
        ("chain",),
        "If all jobs need just over half of one cluster and one processor of each other, the loss "
        "is close to (C - 1/2) / C for large clusters (to 0.01)",
        verdicts.extreme,
        "0.75, 0.875, 0.969",
        where="Section 3",
    ),
    claim(
        ("chain",),
        "Whether unordered jobs run together depends on the order of their arrival (2 x 5)",
        verdicts.order_matters,
        "3, 2",
        where="Section 4.2",
    ),
    claim(
        ("chain",),
        "Simulation agrees with the Markov chain of tiny systems, FCFS and FPFS, to 0.001",
        verdicts.against_truth,
        "ours",
        where="-",
    ),
)


def claim_of_logs(logs: Sequence[Log]) -> Claim:
    """Return what the paper claims of its two logs."""
    text = "The losses for the two logs are similar"
    return claim(("logs",), text, verdicts.logs_alike(logs), where="Fig. 7")

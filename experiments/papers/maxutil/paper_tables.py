"""The capacity losses that `maxutil` prints: Tables 3 and 4, and the laws of Table 5."""

from __future__ import annotations

from typing import NamedTuple

SIZE = 32
"""Processors of a cluster."""


class Row(NamedTuple):
    """A row of Table 3 or 4: the capacity loss, for a law of the sizes of components.

    Single-cluster columns are of one component on one cluster, `total` of the sum of all
    components on one cluster as large as all.
    """

    law: str
    single_exact: float
    single_simulation: float
    ordered_exact: float
    ordered_simulation: float
    unordered_approximation: float
    unordered_simulation: float
    total_exact: float


TABLE_3_CLUSTERS = 4
TABLE_3 = (
    Row("U[1,4]", 0.032, 0.033, 0.149, 0.150, 0.050, 0.053, 0.038),
    Row("U[1,5]", 0.043, 0.044, 0.176, 0.176, 0.065, 0.067, 0.047),
    Row("U[1,13]", 0.139, 0.139, 0.345, 0.344, 0.187, 0.192, 0.120),
    Row("U[1,16]", 0.169, 0.169, 0.380, 0.379, 0.233, 0.239, 0.148),
    Row("U[4,5]", 0.051, 0.052, 0.111, 0.111, 0.043, 0.048, 0.043),
    Row("U[4,13]", 0.145, 0.145, 0.302, 0.301, 0.186, 0.188, 0.149),
    Row("U[4,16]", 0.174, 0.175, 0.337, 0.337, 0.250, 0.255, 0.167),
    Row("U[5,13]", 0.149, 0.150, 0.292, 0.292, 0.170, 0.175, 0.146),
    Row("U[5,16]", 0.177, 0.178, 0.321, 0.321, 0.260, 0.260, 0.186),
    Row("U[13,16]", 0.094, 0.095, 0.094, 0.094, 0.094, 0.094, 0.094),
)

TABLE_4_CLUSTERS = 2
TABLE_4 = (
    Row("D(0.95)[1,32]", 0.293, 0.295, 0.457, 0.455, 0.397, 0.397, 0.261),
    Row("D(0.90)[1,32]", 0.249, 0.251, 0.426, 0.425, 0.339, 0.340, 0.190),
    Row("D(0.85)[1,32]", 0.188, 0.188, 0.359, 0.356, 0.254, 0.258, 0.135),
    Row("D(0.80)[1,32]", 0.134, 0.135, 0.289, 0.287, 0.181, 0.187, 0.098),
    Row("D(0.75)[1,32]", 0.097, 0.097, 0.234, 0.231, 0.133, 0.139, 0.076),
    Row("D(0.70)[1,32]", 0.073, 0.074, 0.194, 0.192, 0.102, 0.109, 0.061),
    Row("D(0.65)[1,32]", 0.057, 0.058, 0.166, 0.163, 0.081, 0.088, 0.051),
    Row("D(0.60)[1,32]", 0.046, 0.047, 0.144, 0.141, 0.067, 0.073, 0.043),
    Row("D(0.55)[1,32]", 0.038, 0.039, 0.127, 0.124, 0.056, 0.062, 0.038),
    Row("D(0.50)[1,32]", 0.032, 0.032, 0.113, 0.111, 0.048, 0.054, 0.033),
)

TABLE_5 = ("U[1,7]", "D(0.9)[1,8]", "D(0.768)[1,32]", "U[1,14]", "D(0.894)[1,32]")
"""The laws of section 7; their means and coefficients of variation are `mean` and `cv` of each."""

SECTION_7 = {
    ("ordered", "deterministic"): 0.239,
    ("ordered", "hyperexponential"): 0.266,
    ("unordered", "deterministic"): 0.103,
    ("unordered", "hyperexponential"): 0.115,
}
"""The losses that the text of section 7.1 prints, by request and law of service times."""

"""Laws of component sizes: what they are, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from grid.errors import WorkloadError
from grid.workloads.component_sizes import TabulatedSizes, parse_sizes, sizes_of_log


def test_d_q_is_that_of_the_paper_and_one_is_no_power_of_two():
    weights = {i: 0.9**i * (3 if i in (2, 4, 8) else 1) for i in range(1, 9)}
    expected = [0, *(weight / sum(weights.values()) for weight in weights.values())]
    assert parse_sizes("D(0.9)[1,8]", 32).density() == pytest.approx(expected)


def test_d_q_need_not_begin_at_one_nor_fall():
    assert parse_sizes(" D( 1 ) [ 3 , 5 ] ", 32).density() == pytest.approx(
        [0, 0, 0, 0.2, 0.6, 0.2]
    )


def test_tiny_q_on_large_sizes_is_a_law():
    assert parse_sizes("D(0.001)[900,1000]", 1000).mean == pytest.approx(900, abs=0.01)


def test_mean_and_cv_of_a_uniform_law():
    law = parse_sizes("U[1,7]", 7)
    assert (law.mean, law.cv) == pytest.approx((4, 0.5))
    assert law.density() == pytest.approx([0] + [1 / 7] * 7)


def test_tables_give_the_same_law_by_cdf_and_by_density():
    law = TabulatedSizes(2, 5, (1, 0, 2, 1))
    assert [law.cdf(n) for n in range(2, 6)] == pytest.approx(np.cumsum(law.density())[2:])
    assert law.mean == pytest.approx(law.density() @ np.arange(6))


def test_a_log_gives_its_sizes_and_counts_those_left_out(tmp_path):
    log = tmp_path / "a.swf"
    sizes = [1, 2, 2, 4, 40]
    rows = (f"{j} {j} 0 9 {size} -1 -1 {size} 60 " + "-1 " * 9 for j, size in enumerate(sizes, 1))
    log.write_text("\n".join(rows))
    law = parse_sizes(f"swf:{log}", 32)
    assert isinstance(law, TabulatedSizes)
    assert law.left_out == 1
    assert law.density() == pytest.approx([0, 0.25, 0.5, 0, 0.25])
    with pytest.raises(WorkloadError, match="the smallest job has size 1; accepted"):
        sizes_of_log(log, 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "found ''"),
        ("V[1,2]", "found 'V"),
        ("U[1;2]", "found 'U"),
        ("U[1,2.5]", "found 'U"),
        ("U[-1,2]", "found 'U"),
        ("D[1,2]", "found 'D"),
        ("D(0.9)", "found 'D"),
        ("U[0,2]", "found sizes from 0 to 2"),
        ("U[3,2]", "found sizes from 3 to 2"),
        ("U[1,33]", "found sizes from 1 to 33; accepted: from 1 to at most 32"),
        ("D(0)[1,2]", "found q = '0'"),
        ("D(1.01)[1,2]", "found q = '1.01'"),
        ("D(-0.5)[1,2]", "found q"),
        ("D(nan)[1,2]", "found q = 'nan'"),
        ("D(many)[1,2]", "found q = 'many'"),
        ("D()[1,2]", "found q = ''"),
        ("swf:nowhere.swf", "nowhere.swf: cannot be read"),
    ],
)
def test_what_is_no_law_is_refused_in_one_line(text, found):
    with pytest.raises(WorkloadError) as error:
        parse_sizes(text, 32)
    assert found in str(error.value)
    assert "accepted" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("weights", [(1,), (0, 0), (1, -1), (1, float("nan"))])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(WorkloadError, match="weights of sizes"):
        TabulatedSizes(1, 2, weights)

"""Rows of CSV: each number as Python writes it."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experiments.run.csv_rows import csv_rows


def word(number):
    return "" if math.isnan(number) else repr(number)


@given(st.lists(st.floats() | st.integers(-20, 20).map(lambda power: 10.0**power)))
def test_each_number_is_as_python_writes_it(numbers):
    rows = csv_rows([np.array(numbers, float), np.arange(len(numbers))])
    assert rows == "".join(f"{word(number)},{row}\n" for row, number in enumerate(numbers))


def test_numbers_of_all_sizes():
    rng = np.random.default_rng(1)
    numbers = rng.random(20_000) * 10.0 ** rng.integers(-8, 20, 20_000)
    numbers[::3] = np.trunc(numbers[::3])
    assert csv_rows([numbers]).split() == list(map(repr, numbers.tolist()))


@given(st.lists(st.text(st.sampled_from("ab \",:+;'\n\r\x1b")), min_size=1))
def test_text_reads_back(words):
    rows = csv_rows([np.array(words, object), np.arange(len(words))])
    assert list(csv.reader(io.StringIO(rows, newline=""))) == [
        [word, str(row)] for row, word in enumerate(words)
    ]

"""Texts, bars and tables for a console of a known size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from experiments.live.columns import (
    ASCII,
    UNICODE,
    Column,
    fill,
    fit,
    names,
    numbers,
    shorten,
    shorten_apart,
    table,
)


def test_columns_are_dropped_by_rank_and_numbers_never_cut():
    columns = [
        names("name", ["alpha"], UNICODE),
        numbers("first", ["123,456"], 1),
        numbers("last", ["789,012"], 2),
        Column("bar", lambda row, width: "#" * width, 4, 9, rank=3),
    ]
    for width, expected in {
        34: "alpha  123,456  789,012  #########",
        30: "alpha  123,456  789,012  #####",
        28: "alpha  123,456  789,012",
        22: "alpha  123,456",
        13: "alpha",
    }.items():
        assert table(columns, 1, width)[1].plain == expected


@given(st.text(), st.integers(3, 30), st.sampled_from([UNICODE, ASCII]))
def test_shortened_texts_fit_on_one_line(text, width, glyphs):
    short = shorten(text, width, glyphs)
    assert cell_len(short) <= width
    assert short.isprintable()


@pytest.mark.thorough
@given(st.text(st.characters(categories=["L"]), min_size=30), st.integers(12, 30))
def test_names_that_begin_alike_stay_apart(common, width):
    given_names = [f"{common}{number}.fr" for number in range(1, 13)]
    short = shorten_apart(given_names, width)
    assert len({*short}) == len(given_names)
    assert all(cell_len(each) <= width for each in short)
    lines = [line.plain for line in table([names("cluster", given_names, UNICODE)], 12, width)]
    assert len({*lines}) == len(lines)


@given(st.lists(st.integers(0, 10**9).map(str)), st.integers(12, 60))
def test_items_stay_whole(items, width):
    kept = fit(items, width).split()
    assert kept == items[: len(kept)]
    assert len(fit(items, width)) <= width
    assert kept == items or len("   ".join(items[: len(kept) + 1])) > width
    lines = fill(items, width)
    assert all(len(line) <= width for line in lines)
    assert " ".join(lines).replace(",", "").split() == items

"""How many processors of one cluster are expected to be free, from now on.

A profile is rows in order of time, each of which holds until the next. They stand in blocks of up
to `BLOCK`, in order too; each block knows its most and least free processors, and what is still to
be added to all of its rows. So to make a row, to take processors for some time, and to look for the
earliest time at which a job fits pass over blocks, not rows.
"""

from __future__ import annotations

from typing import Any

from grid.kernel.compile import inlined, part, unchecked
from grid.kernel.dtypes import BLOCK
from grid.kernel.state import State

_FILLED = BLOCK * 3 // 4
"""Rows that are written into a block before the next is begun, so that few have to be split."""


@unchecked
def _sum_up(rows: Any, block: Any) -> None:
    """Bring the most and the least free processors of a block up to date."""
    most = least = rows[block.first].free
    for row in range(block.first + 1, block.first + block.length):
        most, least = max(most, rows[row].free), min(least, rows[row].free)
    block.most, block.least = most + block.more, least + block.more


@inlined
def _open(state: State, rows: Any, blocks: Any, time: float, free: int) -> None:
    """Append a block of one row; which rows it has is said by the vacant block there."""
    block = blocks[state.profile_blocks]
    block.begin, block.length, block.more = time, 1, 0
    block.most = block.least = free
    rows[block.first].time, rows[block.first].free = time, free
    state.profile_blocks += 1


@inlined
def begin_profile(state: State, rows: Any, blocks: Any, free: int) -> None:
    """Have a profile hold nothing but how many processors are free now, and ever after."""
    state.profile_blocks, state.profile_length = 0, 1
    _open(state, rows, blocks, state.now, free)


@inlined
def append_change(state: State, rows: Any, blocks: Any, time: float, change: int) -> None:
    """Have so many more processors be free from a time (s) on that is not before the last row's."""
    block = blocks[state.profile_blocks - 1]
    last = block.first + block.length - 1
    free = rows[last].free + change
    if time <= rows[last].time:
        rows[last].free = free
    else:
        state.profile_length += 1
        if block.length == _FILLED:
            _sum_up(rows, block)
            _open(state, rows, blocks, time, free)
        else:
            rows[last + 1].time, rows[last + 1].free = time, free
            block.length += 1


@inlined
def end_profile(state: State, rows: Any, blocks: Any) -> bool:
    """Say that no change is to be appended; tell whether the processors always suffice."""
    _sum_up(rows, blocks[state.profile_blocks - 1])
    fits = True
    for index in range(state.profile_blocks):
        fits &= blocks[index].least >= 0
    return bool(fits)


@unchecked
def _block_at(state: State, blocks: Any, time: float) -> int:
    """Return the last block that begins by a time (s), or the first."""
    low, high = 0, state.profile_blocks
    while high - low > 1:
        middle = (low + high) // 2
        if blocks[middle].begin <= time:
            low = middle
        else:
            high = middle
    return low


@unchecked
def _row_at(rows: Any, block: Any, time: float) -> int:
    """Return the first row of a block that begins at a time (s) or later, or the row behind it."""
    low, high = block.first, block.first + block.length
    while low < high:
        middle = (low + high) // 2
        if rows[middle].time < time:
            low = middle + 1
        else:
            high = middle
    return int(low)


@part
def _split(state: State, rows: Any, blocks: Any, index: int) -> None:
    """Put the second half of a block into one of its own."""
    first = blocks[state.profile_blocks].first
    for behind in range(state.profile_blocks, index + 1, -1):
        blocks[behind] = blocks[behind - 1]
    state.profile_blocks += 1
    block, other = blocks[index], blocks[index + 1]
    block.length = BLOCK // 2
    other.first, other.length, other.more = first, BLOCK - BLOCK // 2, block.more
    for row in range(other.length):
        rows[first + row] = rows[block.first + block.length + row]
    other.begin = rows[first].time
    _sum_up(rows, block)
    _sum_up(rows, other)


@part
def make_row(state: State, rows: Any, blocks: Any, time: float) -> None:
    """Have a row begin at a time (s)."""
    index = _block_at(state, blocks, time)
    row = _row_at(rows, blocks[index], time)
    if row < blocks[index].first + blocks[index].length and rows[row].time == time:
        return
    if blocks[index].length == BLOCK:
        _split(state, rows, blocks, index)
        index = _block_at(state, blocks, time)
        row = _row_at(rows, blocks[index], time)
    block = blocks[index]
    for below in range(block.first + block.length, row, -1):
        rows[below] = rows[below - 1]
    rows[row].time, rows[row].free = time, rows[row - 1].free
    block.length += 1
    state.profile_length += 1


@part
def take(state: State, rows: Any, blocks: Any, begin: float, end: float, count: int) -> None:
    """Take `count` processors away from one time (s) until another; a row begins at either."""
    index = _block_at(state, blocks, begin)
    row = _row_at(rows, blocks[index], begin)
    while blocks[index].begin < end:
        block = blocks[index]
        behind = index + 1 < state.profile_blocks and blocks[index + 1].begin <= end
        if behind and row == block.first:
            block.more -= count
            block.most -= count
            block.least -= count
        else:
            until = block.first + block.length if behind else _row_at(rows, block, end)
            for each in range(row, until):
                rows[each].free -= count
            _sum_up(rows, block)
        index += 1
        if index == state.profile_blocks:
            return
        row = blocks[index].first


@part
def earliest(
    state: State, rows: Any, blocks: Any, slot: Any, latest: float, before: float
) -> float:
    """Return the earliest time (s) from which on a job fits for as long as it shall take.

    That is `latest`, from which on it fits, if there is none before a time (s) that is earlier.
    """
    size, limit = slot.size, min(latest, before)
    index, offset = 0, 0
    while index < state.profile_blocks and blocks[index].begin < limit:
        block = blocks[index]
        if block.most < size:
            index, offset = index + 1, 0
            continue
        while offset < block.length and rows[block.first + offset].free + block.more < size:
            offset += 1
        if offset == block.length:
            index, offset = index + 1, 0
            continue
        begin = rows[block.first + offset].time
        if begin >= limit:
            break
        index, offset, fits = _fits_until(
            state, rows, blocks, index, offset, size, min(begin + slot.predicted_time, latest)
        )
        if fits:
            return float(begin)
    return float(latest)


@unchecked
def _fits_until(
    state: State, rows: Any, blocks: Any, index: int, offset: int, size: int, end: float
) -> tuple[int, int, bool]:
    """Tell whether a job of a size fits from a row on until a time (s), or else where it does not.

    Returns
    -------
    index, offset : int
        The block, and the row in it, with too few processors free.
    fits : bool
    """
    while index < state.profile_blocks and blocks[index].begin < end:
        block = blocks[index]
        if block.least < size:
            while offset < block.length:
                row = block.first + offset
                if rows[row].time >= end:
                    return index, offset, True
                if rows[row].free + block.more < size:
                    return index, offset, False
                offset += 1
        index, offset = index + 1, 0
    return index, offset, True


@part
def let_pass(state: State, rows: Any, blocks: Any) -> None:
    """Have a profile that began earlier begin now."""
    while state.profile_blocks > 1 and blocks[1].begin <= state.now:
        first = blocks[0].first
        state.profile_length -= blocks[0].length
        state.profile_blocks -= 1
        for index in range(state.profile_blocks):
            blocks[index] = blocks[index + 1]
        blocks[state.profile_blocks].first = first
    block = blocks[0]
    gone = 0
    while gone + 1 < block.length and rows[block.first + gone + 1].time <= state.now:
        gone += 1
    if gone > 0:
        block.length -= gone
        state.profile_length -= gone
        for row in range(block.first, block.first + block.length):
            rows[row] = rows[row + gone]
        _sum_up(rows, block)
    rows[block.first].time = block.begin = state.now

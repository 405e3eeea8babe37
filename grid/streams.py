"""Random numbers: one stream for each purpose, equal on every machine and in compiled code.

A stream is the state of a xoshiro256++ generator, four 64-bit words seeded by NumPy's
`SeedSequence`. Draws use raw bits only, so results do not depend on the version of NumPy, and
because each purpose has its own stream, adding a scheduler changes no arrival.
"""

from __future__ import annotations

import zlib

import numba
import numpy as np
import numpy.typing as npt

from grid.kernel.compile import compiled, inlined

Stream = npt.NDArray[np.uint64]
"""State of one generator: shape (4,)."""


def stream(seed: int, purpose: str, index: int = 0) -> Stream:
    """Return the random stream of one purpose.

    Parameters
    ----------
    seed : int
        The seed of the run, non-negative.
    purpose : str
        What the numbers are for, such as ``"arrivals"``.
    index : int
        Tells apart streams of one purpose, such as clusters.

    Examples
    --------
    >>> bool((stream(1, "arrivals") == stream(1, "arrivals")).all())
    True
    >>> bool((stream(1, "arrivals") == stream(1, "sizes")).any())
    False
    """
    key = (zlib.crc32(purpose.encode()), index)
    words: Stream = np.random.SeedSequence(seed, spawn_key=key).generate_state(4, np.uint64)  # type: ignore[assignment]
    return words


@inlined
def _rotate(x: np.uint64, k: int) -> np.uint64:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@inlined
def bits(s: Stream) -> np.uint64:
    """Return 64 random bits and advance the stream (xoshiro256++)."""
    result = _rotate(s[0] + s[3], 23) + s[0]
    shifted = s[1] << np.uint64(17)
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= shifted
    s[3] = _rotate(s[3], 45)
    return result


@compiled(cache=False, forceinline=True)  # and called from Python
def uniform(s: Stream) -> float:
    """Return a float in [0, 1) with 53 random bits."""
    return (bits(s) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(cache=False, forceinline=True)  # and called from Python
def below(s: Stream, n: int) -> int:
    """Return an integer in [0, n), for n up to 2**53."""
    return numba.int64(uniform(s) * n)

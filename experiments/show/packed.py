"""Data of a page, as its scripts take it."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup


def pack(values: npt.ArrayLike) -> dict[str, str]:
    """Return an array in little-endian bytes, compressed, as base64; the same for the same data.

    Integers get as few bytes as they need.
    """
    array = np.asarray(values)
    kind = "f8"
    if array.dtype.kind in "iub":
        low, high = int(array.min(initial=0)), int(array.max(initial=0))
        small = [("u1", 2**8), ("u2", 2**16)] if low >= 0 else []
        kind = next((name for name, limit in small if high < limit), "i4")
        if not -(2**31) <= low <= high < 2**31:
            kind = "f8"
    data = gzip.compress(array.astype("<" + kind).tobytes(), 6, mtime=0)
    return {"kind": kind, "data": base64.b64encode(data).decode("ascii")}


def embedded(data: Any) -> Markup:
    """Return JSON that may stand in a script element: no text in it can end that."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from grid.errors import WorkloadError
from grid.logs.files import PACKED, bare_name, opened_lines

PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("name", ["log.swf", "log.swf{}", "LOG.SWF{}"])
def test_packed_files_are_told_by_their_first_bytes(tmp_path, suffix, name):
    path = tmp_path / name.format(suffix)
    path.write_bytes(PACKERS[suffix](b"\xef\xbb\xbfone\r\ntwo"))
    with opened_lines(path) as lines:
        assert list(lines) == ["one", "two"]


@pytest.mark.parametrize("suffix", PACKED)
def test_files_that_are_not_whole(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    whole = PACKERS[suffix](bytes(range(256)) * 50)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    for content in (whole[:-9], bytes(flipped), b"no packed file"):
        path.write_bytes(content)
        refused = pytest.raises(WorkloadError, match=r"log\.\w+: not a whole \w+ file \(")
        with refused as caught, opened_lines(path) as lines:
            list(lines)
        assert "\n" not in str(caught.value)


def test_names_without_what_packs_them():
    names = ["a.swf", "A.SWF.GZ", "b.json.xz", "c.tar", "d.gz"]
    assert [bare_name(Path(name)) for name in names] == [
        "a.swf",
        "a.swf",
        "b.json",
        "c.tar",
        "d",
    ]

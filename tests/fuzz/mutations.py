"""Ways to spoil a file: its bytes, its words and lines, and what its structure holds."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import re
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing, suppress
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

NUMBERS = (
    *("0", "-0.0", "-1", "1", "2", "3.5", "1e-9", "5e-324", "1e9", "1e16", "1e308", "1e400"),
    *("-1e400", "nan", "NaN", "-inf", "inf", "Infinity", "1_0", "0x10", "007", "1e", "+1", "٣"),
    *(str(2**power + less) for power in (31, 32, 53, 63, 64) for less in (-1, 0, 1)),
    *("9" * 400, "9" * 4301, "0." + "3" * 5000, str(-(2**63)), "72009223372036854775807"),
)
MILD = (*"01234", "0.5", "-1", "7.25", "10", "16", "60", "1e3", "86400", "100000", "1e-3")
"""Numbers that are likely to be let through, and to be wrong beside others."""
TEXTS = (
    *("", " ", "x", "\0", "\x1b[2J", "\x1b]0;title\x07", "\r", "a\nb", "\t", "\x85", "\u2028"),
    *("\u202e", "\ud800", "\udc1b", "\ufeff", "é", "😀", "x" * 301, "y" * 5000, "9" * 30_000 + "x"),
    *("[red]", "%s", "{0}", "..", "/", "/dev/null", "a/b", "nan", "null", "true", "C1", "switch"),
    *("a=b", ":", "+", "C1:1+C1:1", "a:b", ".:", "os:path", "-", "--", "1 day", "10m", "1e5s"),
    *("2021-02-30", "1979-05-27T07:32:00Z", "9999-12-31T23:59:59", "00:00:01", "1,2", "|", '"'),
)
DEEP = ("[" * 100_000, "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "[[[[[]]]]]")
BYTES = (b"\0", b"\xff", b"\xef\xbb\xbf", b"\n\n\n", b"\x1f\x8b", b"PAR1", b";", b"#", b"\x80" * 70)
MALFORMED = ValueError, LookupError, RecursionError, OSError, sqlite3.Error, pa.ArrowException
"""How that is told which is spoilt too much to be read for another change."""


class Raw(str):
    """What is written as it is, without quotes."""


class Table(list[Any]):
    """An object of JSON or a table of TOML: lists of a key and a value, of which some may be twice.

    Where keys are in lists, they can be changed in place as values can.
    """


def mutated(name: str, data: bytes, rng: Random) -> bytes:
    """Return what is in a file, spoilt in a way that its name's end makes likely to be read."""
    kind = name.rpartition(".")[2]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        ways = [_bytes] if rng.random() < 0.05 else KINDS.get(kind, [_words])
        with suppress(*MALFORMED):
            data = rng.choice(ways)(data, rng)  # what is spoilt too much for it stays as it is
    return _packed(data, rng) if kind in PACKED and rng.random() < 0.05 else data


def _bytes(data: bytes, rng: Random) -> bytes:
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((0, 1, 1, 2, 30)))
    match rng.randrange(6):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:start] + rng.randbytes(end - start) + data[end:]
        case 3:
            return data[:start] + rng.choice(BYTES) + data[start:]
        case 4:
            return data[:end] + data[start:]
        case _:
            text = data.decode("utf-8", "replace")
            return text.encode(rng.choice(("utf-16", "utf-8-sig", "latin-1", "cp037")), "replace")


def _packed(data: bytes, rng: Random) -> bytes:
    pack = rng.choice((gzip.compress, bz2.compress, lzma.compress))
    if rng.random() < 0.01:
        return pack(rng.choice((data[:1], b"1", b"\n", b"; 1 ")) * 2**24)
    return _bytes(pack(data), rng) if rng.random() < 0.7 else pack(data)


def _text(rng: Random) -> str:
    return rng.choice(rng.choice((TEXTS, NUMBERS, MILD, MILD)))


def _words(data: bytes, rng: Random) -> bytes:
    """Change a word, or what is between two."""
    parts = re.findall(r"[\w.+-]+|\s+|[^\w\s]", data.decode("utf-8", "surrogateescape"))
    words = [at for at, part in enumerate(parts) if part[0].isalnum() or part[0] in "+-"]
    at = rng.choice(words if rng.random() < 0.8 else range(len(parts)))
    parts[at] = rng.choice(
        (
            *(_text(rng) for _ in range(4)),
            *("", parts[at] * 2, rng.choice(parts), parts[at] + rng.choice("x.e-+ %")),
            "-" + parts[at],
        )
    )
    return "".join(parts).encode("utf-8", "surrogatepass")


def _lines(data: bytes, rng: Random) -> bytes:
    """Move, drop or repeat a line, or put one between."""
    lines = data.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines[at], lines[other] = lines[other], lines[at]
        case 2:
            lines.insert(at, lines[other] * rng.choice((1, 1, 40)))
        case 3:
            lines.insert(at, _text(rng).encode("utf-8", "surrogatepass") + b"\n")
        case _:
            lines[at] = lines[at].rstrip(b"\n")
    return b"".join(lines)


# Trees: JSON and TOML ----------------------------------------------------------------------------


def _json(data: bytes, rng: Random) -> bytes:
    tree = json.loads(data, object_pairs_hook=lambda pairs: Table(map(list, pairs)))
    return _in_json(_edited(tree, rng)).encode("utf-8", "surrogatepass")


def _json_line(data: bytes, rng: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    lines[at] = _json(lines[at], rng) + b"\n"
    return b"".join(lines)


def _toml(data: bytes, rng: Random) -> bytes:
    tree = _edited(_tables(tomllib.loads(data.decode())), rng)
    pairs = tree if isinstance(tree, Table) else []
    lines = [f"{json.dumps(key)} = {_in_toml(value)}\n" for key, value in pairs]
    return "".join(lines).encode("utf-8", "surrogatepass")


def _tables(value: Any) -> Any:
    if isinstance(value, dict):
        return Table([key, _tables(each)] for key, each in value.items())
    return [_tables(each) for each in value] if isinstance(value, list) else value


def _in_json(value: Any) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, Table):
        return f"{{{', '.join(f'{json.dumps(key)}: {_in_json(each)}' for key, each in value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_json, value))}]"
    return json.dumps(value)


def _in_toml(value: Any) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, Table):
        return f"{{{', '.join(f'{json.dumps(key)} = {_in_toml(each)}' for key, each in value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_toml, value))}]"
    if isinstance(value, float | int | bool | str):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _edited(tree: Any, rng: Random) -> Any:
    """Change a node of a tree."""
    nodes = [*_nodes(tree)]
    if not nodes or rng.random() < 0.01:
        return _value(rng)
    parent, at = rng.choice(nodes)
    holder, place = (parent[at], 1) if isinstance(parent, Table) else (parent, at)
    match rng.randrange(14):
        case 0:
            del parent[at]
        case 1:
            parent[at:at] = [copy.deepcopy(parent[at]) for _ in range(rng.choice((1, 1, 40)))]
        case 2 if isinstance(parent, Table):
            holder[0] = rng.choice(TEXTS)
        case 3 | 4 | 5 | 6:
            other, index = rng.choice(nodes)
            found = other[index][1] if isinstance(other, Table) else other[index]
            holder[place] = copy.deepcopy(found)
        case 7:
            value = holder[place]
            holder[place] = rng.choice(([value], [], Table([["a", value]]), Table(), str(value)))
        case _:
            holder[place] = _value(rng, like=holder[place])
    return tree


def _nodes(tree: Any) -> list[tuple[Any, int]]:
    """Return where each value is: in which list, or in which pair of a table."""
    found = []
    for at, each in enumerate(tree) if isinstance(tree, list) else ():
        found.append((tree, at))
        found += _nodes(each[1] if isinstance(tree, Table) else each)
    return found


def _value(rng: Random, like: Any = None) -> Any:
    """Return a value, in most cases of the kind of another."""
    kind = rng.random()
    if kind < 0.7 and isinstance(like, int | float):
        return Raw(rng.choice(rng.choice((MILD, MILD, NUMBERS))))
    if kind < 0.3:
        return Raw(rng.choice(NUMBERS))
    if kind < 0.8:
        return rng.choice(TEXTS)
    if kind < 0.9:
        return Raw(rng.choice((*DEEP, "1979-05-27T07:32:00Z", "1979-05-27", "07:32:00")))
    return rng.choice((Raw("true"), Raw("false"), Raw("null"), Table(), [], [[]], [Raw("1"), "x"]))


# Tables ------------------------------------------------------------------------------------------


def _cell(rng: Random) -> Any:
    number = rng.choice((0, -1, 2**63 - 1, -(2**63), 1.5, float("nan"), float("inf"), 1e308))
    return rng.choice((None, number, _text(rng), b"\xff\0", _in_json(_value(rng))))


def _sqlite(data: bytes, rng: Random) -> bytes:
    """Change a value of a row of a database, drop or repeat rows, or drop a table."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master")]
        table = rng.choice([name for name in tables if not name.startswith("sqlite")])
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rows = database.execute(f"SELECT rowid, * FROM {table}").fetchall()
        at = rng.randrange(len(columns))
        rowid, *values = rng.choice(rows)
        text = str(values[at]).encode()
        if rng.random() < 0.5:
            value = rng.choice((_json, _json, _words))(text, rng).decode("utf-8", "replace")
        else:
            value = _cell(rng)
        change = rng.random()
        if change < 0.85:
            which = "" if change < 0.05 else f" WHERE rowid = {rowid}"
            statement = f"UPDATE OR REPLACE {table} SET {columns[at]} = ?{which}"
            database.execute(statement, (value,))
        elif change < 0.95:
            database.execute(f"DELETE FROM {table} WHERE rowid {rng.choice('=><')} {rowid}")
        else:
            database.execute(f"DROP TABLE {table}")
        database.commit()
        return database.serialize()


def _parquet(data: bytes, rng: Random) -> bytes:
    """Change the type, the name or a value of a column."""
    table = parquet.read_table(io.BytesIO(data))
    columns = {name: table[name].to_pylist() for name in table.column_names}
    name = rng.choice([*columns])
    values = columns[name]
    row = rng.randrange(len(values))
    match rng.randrange(9):
        case 0:
            columns[_text(rng).encode("utf-8", "replace").decode()] = columns.pop(name)
        case 1:
            columns[name] = pa.array(values).cast(rng.choice((pa.string(), pa.float32())))
        case 2:
            columns[name] = [rng.choice(([], {"a": 1}, b"\xff", True, None))] * len(values)
        case 3:
            columns[name] = [
                _text(rng) if at == row else str(each) for at, each in enumerate(values)
            ]
        case _:
            number = rng.choice((0, 1, 2, 3, 9, -1, 2**53, 2**63 - 1, -(2**63)))
            values[row] = rng.choice((None, number, float(number), float("nan"), float("inf")))
            values[row] = str(number) if isinstance(values[row - 1], str) else values[row]
    new = io.BytesIO()
    parquet.write_table(pa.table(columns), new)
    return new.getvalue()


def _settings(data: bytes, rng: Random) -> bytes:
    """Return a few of many settings, of which one is changed."""
    first, *others = rng.sample(data.splitlines(), rng.choice((1, 1, 2)))
    name, _, value = first.partition(b"=")
    way = rng.choice((_words, _words, _json))
    value = way(value, rng).replace(b"\n", b" ") if rng.random() < 0.9 else _words(value, rng)
    return b"\n".join([name + b"=" + value, *others])


def _attributes(data: bytes, rng: Random) -> bytes:
    """Change what is between two quotation marks."""
    parts = data.split(b'"')
    at = rng.randrange(1, len(parts), 2)
    parts[at] = _words(parts[at], rng) if parts[at] else rng.choice(parts[1::2])
    parts[at] = parts[at].replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b'"', b"&quot;")
    return b'"'.join(parts)


KINDS: dict[str, list[Callable[[bytes, Random], bytes]]] = {
    "json": [*[_json] * 7, _words],
    "jsonl": [*[_json_line] * 7, _lines],
    "toml": [*[_toml] * 7, _words],
    "db": [_sqlite],
    "parquet": [_parquet],
    "set": [_settings],
    "word": [_words],
    "xml": [*[_attributes] * 5, _words, _lines],
    **{kind: [_words, _words, _words, _lines] for kind in ("swf", "gwf", "txt", "csv")},
}
"""Ways to spoil files, by the ends of their names."""
PACKED = ("swf", "gwf", "txt", "csv", "json", "parquet")
"""Files that may be packed."""

"""Feed spoilt files to all that reads files: ``python -m tests.fuzz --inputs 100000 --seed 7``."""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.inputs import Input
from tests.fuzz.oracle import FindingError, limit_memory
from tests.fuzz.targets import targets


def main() -> int:
    """Run as the command line says; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="of all targets together")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--target", help="one alone")
    parser.add_argument("--only", type=int, help="the input of this number, written to --keep")
    parser.add_argument("--keep", type=Path, help="a folder for inputs that found something")
    parser.add_argument("--memory", type=float, default=8.0, help="that may be had, GB")
    asked = parser.parse_args()
    keep = None if asked.keep is None else asked.keep.resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        chosen = targets(Path(folder))
        if asked.target is not None:
            chosen = {asked.target: chosen[asked.target]}
        limit_memory(asked.memory)
        outcomes: Counter[tuple[str, str]] = Counter()
        found: Counter[tuple[str, str]] = Counter()
        began = time.monotonic()
        place = Path(folder) / "input"
        numbers = range(asked.inputs // len(chosen)) if asked.only is None else [asked.only]
        for name, target in chosen.items():
            for number in numbers:
                if number % 100 == 0:  # else what no signal can stop would go on for ever
                    faulthandler.dump_traceback_later(900, exit=True)
                given = Input(name, target, asked.seed, number)
                if asked.only is not None and keep is not None:
                    given.write(keep)
                try:
                    outcomes[name, given.outcome(place)] += 1
                except FindingError as finding:
                    outcomes[name, "FOUND"] += 1
                    found[name, finding.key] += 1
                    if found[name, finding.key] == 1:
                        print(f"\n{name} {number}: {given.words or 'read'}: {finding}", flush=True)
                        if keep is not None and asked.only is None:
                            given.write(keep / f"{name}-{asked.seed}-{number}")
            if asked.only is None:
                print(f"{name}: {_counts(outcomes, name)}", file=sys.stderr, flush=True)
        faulthandler.cancel_dump_traceback_later()
        os.chdir("/")
    for name in chosen:
        print(f"{name:16}{_counts(outcomes, name)}")
    for (name, key), count in sorted(found.items()):
        print(f"{count:8} x {name}: {key}")
    total, took = outcomes.total(), time.monotonic() - began
    print(f"{total} inputs in {took:.0f} s, {total / took:.0f} a second; {len(found)} findings")
    return 1 if found else 0


def _counts(outcomes: Counter[tuple[str, str]], name: str) -> str:
    return "  ".join(f"{of} {n}" for (whose, of), n in sorted(outcomes.items()) if whose == name)


if __name__ == "__main__":
    sys.exit(main())

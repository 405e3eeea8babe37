"""Measure what docs/live-python.md tells of calls of functions, on an idle machine."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from metasched.live import Executor

GRID = 'global = "dll"\nlocal = "fcfs"\n[[sites]]\nname = "here"\nslots = 4\n'
CALLS, WAITING, LOOKED_AT = 100, 1000, 10.0


def main() -> None:
    """Print how long calls take, and what it costs to wait for many."""
    with tempfile.TemporaryDirectory() as folder:
        grid, state = Path(folder, "grid.toml"), Path(folder, "state")
        grid.write_text(GRID)
        serve = ["metasched", "serve", str(grid), "--state", str(state)]
        with subprocess.Popen(serve, stdout=subprocess.DEVNULL) as service:
            while not (state / "bell").exists():
                time.sleep(0.1)
            with Executor(state) as executor:
                for what, call in (("a module", abs), ("the script", lambda x: x)):
                    for chunk in (1, 1, 1, 25, 25, 25):
                        begun = time.perf_counter()
                        list(executor.map(call, range(CALLS), chunksize=chunk))
                        took = time.perf_counter() - begun
                        print(f"{CALLS} calls of {what}, {chunk} a job: {took:.2f} s")
            service.terminate()
        with Executor(state) as executor:
            begun = time.perf_counter()
            for _ in range(WAITING):
                executor.submit(abs, 1)
            print(f"submit: {(time.perf_counter() - begun) / WAITING * 1e3:.1f} ms")
            spent = time.process_time()
            time.sleep(LOOKED_AT)
            share = (time.process_time() - spent) / LOOKED_AT
            print(f"{WAITING} calls wait: {share:.2%} of a core")
            executor.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()

"""A batch system's jobs end when they are asked to, whatever that has made of them."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.batch_system import Listed
from experiments.service.at_sites.site import End

from .pretended import job, news_of
from .test_service import SOON

pytestmark = pytest.mark.usefixtures("hurry")


@pytest.mark.thorough
@pytest.mark.parametrize(("times", "status"), [(1, 9), (2, None)])
def test_what_a_site_has_forgotten_ends_when_asked(
    site, system, tmp_path, monkeypatch, times, status
):
    """As after its controller was killed, which says that it is cancelled, and has told no node."""
    script = Path(batch.RUN_ONCE).read_text()
    assert script.count("sleep 10") == 1
    (tmp_path / "run_once.sh").write_text(script.replace("sleep 10", "sleep 0.1"))
    monkeypatch.setattr(batch, "RUN_ONCE", str(tmp_path / "run_once.sh"))
    monkeypatch.setattr(batch, "SIGN", 1.0)
    ends = "exit 9" if status else ":"
    text = f"trap '{ends}' TERM; touch {tmp_path}/on; while true; do sleep 0.05; done"
    found, folder = job(tmp_path, text)
    site.start(found, folder)
    begun = time.monotonic()
    while not (tmp_path / "on").exists():
        assert time.monotonic() - begun < SOON
        list(site.news())
    system.cancel = lambda token, at_once: system.cancelled.append((token, at_once))
    site.stop(1)
    system.listed["t-1"] = Listed(True, "CANCELLED")
    if times == 2:
        time.sleep(0.5)
        assert not [each for each in site.news() if isinstance(each, End)]
        site.stop(1, at_once=True)
    (asked, end) = time.time(), news_of(site, End)[-1]
    assert end.exit_status == status
    assert end.time < asked + 0.9  # and not when it was taken to be over


def test_what_is_asked_to_end_while_it_starts_does_not_begin(site, system, tmp_path):
    """A controller says that it runs before its node has its script, which hears no signal."""
    found, folder = job(tmp_path, f"touch {tmp_path}/on; sleep 60")
    scripts = []
    system.submit = lambda token, job, script, output: scripts.append(script)
    system.listed = {"t-1": Listed(False, "RUNNING")}
    system.cancel = lambda token, at_once: system.cancelled.append((token, at_once))
    site.start(found, folder)
    begun = time.monotonic()
    while not scripts:
        assert time.monotonic() - begun < SOON
        list(site.news())
    site.stop(1)
    while not system.cancelled:
        assert time.monotonic() - begun < SOON
    subprocess.run(["/bin/sh", *scripts[0]], timeout=SOON, check=False)
    assert news_of(site, End)[-1].exit_status == 143
    assert not (tmp_path / "on").exists()

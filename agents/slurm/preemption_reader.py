"""Reading what a configuration of Slurm says of preemption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.slurm.conf import Partition, Preemption
from agents.slurm.records import Record
from agents.slurm.values import seconds, whole
from grid.errors import GridError
from grid.foreign import quoted

PARAMETERS = (
    *("preempttype", "preemptmode", "preemptparameters", "preemptexempttime"),
    *("authinfo", "jobrequeue"),
)
"""Parameters that say something of it."""

_TYPES = ("preempt/none", "preempt/partition_prio", "preempt/qos")

_CREDENTIALS = 1
"""Slurm lets a preempted job wait for so much longer than credentials live, s."""


class PreemptionReading:
    """What has been read of preemption so far.

    Attributes
    ----------
    ignored : dict of str to None
        Keys that have no meaning here, as they are spelt.
    """

    def __init__(self) -> None:
        self.ignored: dict[str, None] = {}
        self._type, self._values = "preempt/none", dict[str, Any]()
        self._mode, self._requeues = "off", True
        self._places: dict[str, str] = {}  # where in the file, by keys in small letters
        self._said: dict[str, None] = {}  # what has no meaning without preemption, as it is spelt

    def take(self, record: Record) -> None:
        """Take a parameter of the whole."""
        (key, text), spelt = next(iter(record.values.items())), record.names[record.kind]
        where = self._places[key] = f"{record.where}: {spelt}"
        match key:
            case "preempttype":
                self._type = text.lower()
                if self._type not in _TYPES:
                    accepted = ", ".join(_TYPES)
                    raise GridError(f"{where}: found {quoted(text)}; accepted: {accepted}")
                return
            case "preemptmode":
                self._mode = text.lower()
                if "gang" in self._mode:
                    raise GridError(
                        f"{where}: found {quoted(text)}, and jobs are not suspended here; "
                        "accepted: REQUEUE, or OFF without preemption"
                    )
            case "preemptexempttime":
                self._values["exempt_time"] = exempt_time(where, text)
            case "preemptparameters":
                for option in filter(None, text.replace(" ", "").split(",")):
                    name, _, value = option.partition("=")
                    self.take_option(where, name.lower(), name, value)
            case "authinfo":
                options = (option.partition("=") for option in text.split(","))
                for name, _, value in options:
                    if name.strip().lower() == "cred_expire":
                        lifetime = whole(f"{where}: {name.strip()}", value)
                        self._values["requeue_delay"] = float(lifetime + _CREDENTIALS)
            case "jobrequeue":
                self._requeues = bool(whole(where, text, 0, 1))
        if not record.printed and text.lower() not in ("off", "00:00:00"):
            self._said[spelt] = None

    def take_option(self, where: str, name: str, spelt: str, value: str) -> None:
        """Take an option of ``PreemptParameters``, or of ``SchedulerParameters`` in older files."""
        if name == "reorder_count":
            self._values[name] = whole(f"{where}: {spelt}", value)
        elif name in ("strict_order", "youngest_first"):
            self._values[name] = True
        elif name == "min_exempt_priority":
            self._places[name] = f"{where}: found {quoted(spelt)}; accepted: others"
        else:
            self.ignored[spelt] = None
            return
        self._said[spelt] = None

    def found(
        self, partitions: Mapping[str, Partition], places: Mapping[str, str]
    ) -> Preemption | None:
        """Return what has been read as a whole, given the partitions and where they are."""
        by_qos = self._type == "preempt/qos"
        off = self._type == "preempt/none"
        if off or by_qos:  # modes of partitions have no meaning
            modes = {each.preempt_mode for each in partitions.values()} - {"", "off"}
            self.ignored |= {"PreemptMode": None} if modes else {}
        if off:
            self.ignored |= self._said
            return None
        if self._mode != "requeue":
            place = self._places.get("preemptmode", self._places["preempttype"])
            raise GridError(
                f"{place}: found {self._type} with PreemptMode {self._mode.upper()}; accepted: "
                "PreemptMode=REQUEUE"
            )
        if refused := self._places.get("min_exempt_priority"):
            raise GridError(refused)
        if not self._requeues:
            raise GridError(
                f"{self._places['jobrequeue']}: found 0, so that preempted jobs are cancelled; "
                "accepted: 1"
            )
        for name, each in () if by_qos else partitions.items():
            if each.preempt_mode not in ("", "off", "requeue"):
                raise GridError(
                    f"{places[name]}: PreemptMode: found {quoted(each.preempt_mode.upper())}; "
                    "accepted: OFF, REQUEUE"
                )
        return Preemption(by_qos, **self._values)


def exempt_time(where: str, text: str) -> float:
    """Return for how long a job runs at least before it is preempted, s.

    Raises
    ------
    GridError
        If that is no time.
    """
    return 0.0 if text == "-1" else seconds(where, text)

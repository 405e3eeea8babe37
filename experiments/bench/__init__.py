"""How fast the product is on this machine, measured in CPU time within one process.

Other work on the machine slows a run down and never speeds it up, so each thing is measured
several times, in turn with what it is compared to, and the fastest run of each counts.
"""

from __future__ import annotations

"""All that sections 3 and 4 of `queues` claim, and what our runs say."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.papers.claims import Verdict
from experiments.papers.claims_report import Claim
from experiments.papers.queues.outcome import Outcome
from experiments.papers.queues.policy_claims import OF_POLICIES, OF_QUEUES
from experiments.papers.queues.version_claims import OF_LP_AND_EQ, OF_LS

CLAIMS = OF_LS + OF_LP_AND_EQ + OF_POLICIES + OF_QUEUES


def judged(outcome: Outcome, figures: Sequence[int]) -> list[tuple[Claim, Verdict]]:
    """Judge the claims that are about figures alone that were run."""
    return [(claim, claim.judge(outcome)) for claim in CLAIMS if set(claim.figures) <= set(figures)]

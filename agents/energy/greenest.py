"""GREENEST: to where a job emits least, among those where it is in time."""

from __future__ import annotations

import numpy as np

from agents.balancers import EarliestCompletionScheduler, Offer
from agents.schedulers import Answer
from agents.view import Job


class GreenestScheduler(EarliestCompletionScheduler):
    """Greenest: to the cluster of the fewest grams of CO2 among those that meet the deadline.

    Grams are what the job adds to what idle processors draw, in the time in which ECT's book has it
    run. Where no cluster meets the deadline, the one of earliest completion counts. Without carbon
    intensities energy takes the place of grams, and without watts processor-seconds.
    """

    label = "GREENEST"
    goes_by = f"what the job would emit, and {EarliestCompletionScheduler.goes_by}"

    def place(self, job: Job) -> Answer:
        """Choose the greenest in time; of equals, the one that ends first."""
        offers = [*self.offers(job)]
        in_time = [offer for offer in offers if offer.end <= job.deadline]
        if in_time:
            return self.taken(job, min(in_time, key=lambda offer: self._rank(job, offer)))
        return self.taken(job, min(offers, key=lambda offer: offer.end, default=None))

    def _rank(self, job: Job, offer: Offer) -> tuple[float, float]:
        """Return what a job adds to grams, or what stands for them, and when it ends, s."""
        drawn = float(job.size)
        over = offer.time
        if self.model.energy is not None:
            power = self.model.energy[offer.cluster.index]
            drawn *= power.busy - power.idle
            if power.carbon is not None:
                first, last = power.carbon.integral(np.array([offer.end - offer.time, offer.end]))
                over = float(last - first)
        return drawn * over, offer.end

"""PACE: execution times predicted for each cluster before a job runs (`muscle`, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mesa
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from agents.model import GridModel

Floats = npt.NDArray[np.float64]


class PacePredictor(mesa.Agent):  # type: ignore[misc]
    """Predicts execution times exactly: the time on a cluster of rate 1 over the cluster's rate."""

    def __init__(self, model: GridModel) -> None:
        super().__init__(model)
        self._rates = model.world.platform.rates

    def predict_one(self, runtime: float, cluster: int) -> float:
        """Return the execution time of one job on one cluster, s."""
        return float(runtime / self._rates.item(cluster))

    def predict(self, runtimes: Floats) -> Floats:
        """Return the execution times of jobs on every cluster.

        Parameters
        ----------
        runtimes : array, shape (jobs,)
            Times on a cluster of rate 1, s.

        Returns
        -------
        array, shape (jobs, clusters)
            Seconds.
        """
        return runtimes[:, None] / self._rates[None, :]

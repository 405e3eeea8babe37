"""Proximal policy optimisation: a network beside a formula, trained by Stable-Baselines3.

PPO (J. Schulman and others, 2017) with masks, of sb3-contrib. What chooses is a soft version of the
policy that comes out: by odds of exp(-score), with scores that read each choice alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

from agents.learned.formula import Floats, array_of
from agents.learned.policy import LearnedPolicy
from agents.learned.units import Unit
from experiments.learning.course import Course
from experiments.learning.evolution import Generation
from experiments.learning.lessons import Lesson
from grid.errors import GridError

UNITS = 16
"""Of the network."""
WORLDS = 8
"""Runs that are played at once."""
CHOICES = 512
"""Of each, from one update to the next."""
BATCH, EPOCHS, RATE = 512, 5, 1e-3
"""Choices from which a step is made, how often all are gone through, and how long steps are."""
GAMMA, LAMBDA = 0.99, 0.95
"""How much a reward counts one choice earlier, and how far advantages look ahead."""
FIGURES = 6
"""Significant figures of weights."""


def with_network(policy: LearnedPolicy) -> LearnedPolicy:
    """Return a policy with the units of a network, which add nothing yet."""
    units = [Unit(0.0, 0.0, dict.fromkeys(policy.of_units, 0.0))] * UNITS
    return policy.model_copy(update={"units": tuple(units)})


class _Scores(nn.Module):  # type: ignore[misc]
    """The scores of choices, negative, and what tells the value of all of them together."""

    def __init__(self, begun: LearnedPolicy, sample: Floats) -> None:
        super().__init__()
        count = len(begun.searched)
        self.latent_dim_pi, self.latent_dim_vf = 1, 32
        of_each = torch.tensor(sample.std(axis=0)).float()
        self.scale = torch.where(of_each > 0.0, of_each, 1.0)
        self.mean = torch.tensor(sample.mean(axis=0)).float()
        weights = torch.tensor(array_of(begun.weights, begun.searched)).float()
        self.formula = nn.Parameter(weights * self.scale)
        self.hidden, self.gains = nn.Linear(count, UNITS), nn.Parameter(torch.zeros(UNITS))
        self.read = torch.tensor([float(name in begun.of_units) for name in begun.searched])
        self.each = nn.Sequential(nn.Linear(count, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.all = nn.Sequential(nn.Linear(65, 32), nn.Tanh())

    def forward(self, features: Any) -> Any:
        return self.forward_actor(features), self.forward_critic(features)

    def _parts(self, features: Any) -> tuple[Any, Any]:
        rows = features.reshape(len(features), -1, len(self.scale) + 1)
        return (rows[..., :-1] - self.mean) / self.scale, rows[..., -1:]

    def forward_actor(self, features: Any) -> Any:
        terms, _ = self._parts(features)
        score = terms @ self.formula + torch.relu(self.hidden(terms * self.read)) @ self.gains
        return torch.cat([-score, torch.zeros_like(score[:, :1])], dim=1)

    def forward_critic(self, features: Any) -> Any:
        terms, may = self._parts(features)
        told, count = self.each(terms) * may, may.sum(dim=1)
        mean, most = told.sum(dim=1) / count.clamp(min=1.0), told.amax(dim=1)
        return self.all(torch.cat([mean, most, torch.log1p(count)], dim=1))

    def numbers(self) -> Floats:
        """Return what a scheduler has of them (`agents.learned.units.numbers_of`)."""
        scale, mean = self.scale.double(), self.mean.double()
        hidden = self.hidden.weight.double() * self.read / scale
        bias = self.hidden.bias.double() - hidden @ mean
        units = torch.cat([self.gains.double()[:, None], bias[:, None], hidden], dim=1)
        found = torch.cat([self.formula.double() / scale, units.flatten()]).detach().numpy()
        return np.array([float(f"{each:.{FIGURES}g}") for each in found.tolist()])


class _Policy(MaskableActorCriticPolicy):  # type: ignore[misc]
    """One whose odds are those of `_Scores`."""

    def __init__(self, *given: Any, scores: Callable[[], _Scores], **options: Any) -> None:
        self._scores = scores
        super().__init__(*given, **options)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = self._scores()

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)  # which sets all weights anew, those of the formula aside
        self.action_net = nn.Identity()
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )


def train(
    begun: Generation,
    loss: Callable[[Floats], float],
    policy: LearnedPolicy,
    lessons: Sequence[Lesson],
    reward: str,
    updates: int,
    seed: int,
) -> Iterator[Generation]:
    """Yield the best numbers so far: first those that it begins with, then after each update.

    Parameters
    ----------
    begun : Generation
        The numbers that it begins with, and their loss.
    loss : callable
        Takes the numbers of a scheduler and returns how bad they are over the runs.
    policy : LearnedPolicy
        Whose formula it begins with.
    lessons : sequence of Lesson
        The runs.
    reward : str
        One of `REWARDS`.
    updates : int
    seed : int

    Raises
    ------
    GridError
        If there is nothing to choose.
    """
    torch.set_num_threads(1)  # a small network's threads would wait for each other
    firsts = [len(lessons) * world // WORLDS for world in range(WORLDS)]
    makers = [partial(Course, lessons, policy.agent, reward, first) for first in firsts]
    courses = VecNormalize(DummyVecEnv(makers), norm_obs=False, gamma=GAMMA)
    sample = _sample(Course(lessons, policy.agent, reward, 0))
    model = MaskablePPO(
        _Policy,
        courses,
        learning_rate=RATE,
        n_steps=CHOICES,
        batch_size=BATCH,
        n_epochs=EPOCHS,
        gamma=GAMMA,
        gae_lambda=LAMBDA,
        policy_kwargs={"scores": partial(_Scores, policy, sample)},
        seed=seed,
        device="cpu",
    )
    best = begun
    yield best
    for _ in range(updates):
        model.learn(CHOICES * WORLDS, reset_num_timesteps=False)
        found = model.policy.mlp_extractor.numbers()
        if np.isfinite(found).all() and (came := loss(found)) < best.loss:
            best = Generation(found, came)
        yield best


def _sample(course: Course) -> Floats:
    """Return the terms of what may be chosen in the first choices of a run."""
    seen, _ = course.reset()
    told: list[Any] = []
    over = False
    while not over and len(told) < CHOICES:
        told.append(seen[seen[:, -1] > 0.0, :-1])
        seen, _, over, _, _ = course.step(int(course.action_masks().argmax()))
    if max(map(len, told), default=0) < 2:
        raise GridError("--method: found ppo with nothing to choose; accepted: runs with choices")
    return np.concatenate(told).astype(np.float64)

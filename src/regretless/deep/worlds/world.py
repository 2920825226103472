"""A world: a game whose states come in batches of tensors, so that thousands of traversals advance together.

A `World` samples chance by itself: `deal` and `act` return states where a player decides or the game is over. States
are opaque to the traversal, which only passes them back. An *observation* is what the player to move knows, as a few
small integers: memories store it, and the world's encoder turns it into features.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import torch
from torch import Tensor

from regretless.deep.networks.encoder import ObservationEncoder
from regretless.forms.history import TERMINAL

__all__ = ["TERMINAL", "World"]

States = TypeVar("States")


class World(Protocol[States]):
    """A game on a device. n states at once, A actions, K integers per observation."""

    @property
    def name(self) -> str:
        """The game, as a user types it."""

    @property
    def device(self) -> torch.device: ...

    @property
    def players(self) -> int: ...

    @property
    def actions(self) -> int:
        """A: columns of `legal` and outputs of a network; an action has the same column in every decision."""

    @property
    def observation_size(self) -> int:
        """K."""

    @property
    def observation_dtype(self) -> torch.dtype:
        """The integers in which memories store observations."""

    @property
    def distinct_observations(self) -> int | None:
        """How many observations there are, if K is 1 and they are numbered 0, 1, …; otherwise None."""

    def deal(self, count: int, generator: torch.Generator) -> States:
        """`count` initial states, with the opening chance moves sampled."""

    def player(self, states: States) -> Tensor:
        """[n] int64: who decides, or `TERMINAL`."""

    def legal(self, states: States) -> Tensor:
        """[n, A] bool; where the game is over, undefined."""

    def observe(self, states: States) -> Tensor:
        """[n, K] of `observation_dtype`: what the player to move knows; where the game is over, undefined."""

    def act(self, states: States, action: Tensor, generator: torch.Generator) -> States:
        """The states after `action` [n] int64, with the chance moves that follow sampled."""

    def utility(self, states: States, player: int) -> Tensor:
        """[n] float32: what `player` gets; all states must be terminal."""

    def select(self, states: States, index: Tensor) -> States:
        """Rows `index` [m] int64 of the states; rows may repeat."""

    def can_observe(self, observations: Tensor) -> bool:
        """Whether all of these [n, K] could be observations: those of a file may be anything."""

    def encoder(self, width: int) -> ObservationEncoder:
        """A new encoder of observations, on the CPU, with parameters from PyTorch's global generator."""

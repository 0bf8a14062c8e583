"""What decides for a lane: the network, nothing, chance, a tape, or the scripted bot."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.policy import heads as nine
from core.policy.network import ExactNetwork, LaneNetwork, Network, TorchNetwork
from core.policy.observe import Packer, Senses
from core.policy.sample import draw, mix, units
from core.policy.tape import read_tape
from core.wire.act13 import KEYS, NOOP_ROW
from core.wire.bnn1 import load_checkpoint

Row = npt.NDArray[np.float64]
Heads = npt.NDArray[np.int32]

POLICIES = ("net", "noop", "random[:SEED]", "tape:PATH", "bot")
NETWORKS = ("exact", "torch")


class Controller(Protocol):
    """Decides for one lane, decision after decision from 0; a pure function of what it was made with and shown."""

    @property
    def heads(self) -> Heads | None:
        """The nine choices i32 [9] behind the newest row, overwritten by the next decision; None for a tape."""

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> Row:
        """Returns the act13 row f64 [13] of this decision, overwritten by the next one.

        Args:
            senses: what the lane perceives. record: [1], the newest record behind it. decision: index, from 0.
        """


class MakeController(Protocol):
    """Makes the controller of one lane run."""

    def __call__(self, *, ni: int, rng_seed: int, limit: int) -> Controller:
        """Returns a fresh controller.

        Args:
            ni: the lane's noise index. rng_seed: seed + stage (SPEC 9). limit: decisions in the episode.
        """


@dataclass(frozen=True)
class ControllerFactory:
    """A policy that is loaded and checked, ready to make any number of lanes' controllers."""

    make: MakeController
    notes: tuple[str, ...] = ()  #: lines a report must carry, because the native could not have run this
    checkpoint_hash: int | None = None  #: FNV-1a-64 of the weights; None when no checkpoint is used


def controller_factory(
    policy: str = "net", *, network: str = "exact", checkpoint: str = "", device: str | int = 0
) -> ControllerFactory:
    """Returns the factory of `policy`; everything it needs is loaded and checked here, once.

    Args:
        policy: one of the words of `POLICIES`. network: `exact` or `torch`, for policy `net`.
        checkpoint: a path, or `fixture:N`, for policy `net`. device: where `torch` runs, see `TorchNetwork`.

    Raises:
        BadInput: an unknown word, or a checkpoint, device, seed or tape that cannot be used.
    """
    word, colon, argument = policy.partition(":")
    if word == "net" and not colon:
        return _net(network, checkpoint, device)
    if word == "noop" and not colon:
        return ControllerFactory(lambda **_: Fixed(), ("policy noop",))
    if word == "random":
        return _random(policy, argument if colon else None)
    if word == "tape" and argument:
        return _tape(argument)
    if word == "bot" and not colon:
        from core.policy.bot import Bot  # it brings its own kernels along, which other policies do without

        return ControllerFactory(Bot, ("policy bot",))
    raise BadInput(f"policy {policy!r} is unknown, expected one of {', '.join(POLICIES)}")


class Net:
    """Pack, forward, draw, look the row up."""

    def __init__(self, network: LaneNetwork, *, ni: int, rng_seed: int, limit: int) -> None:
        self.heads: Heads = np.zeros(len(nine.WIDTHS), np.int32)
        self._network = network
        self._ni, self._rng_seed, self._limit = ni, rng_seed, limit
        self._packer = Packer()
        self._row: Row = np.zeros(len(KEYS))

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> Row:
        """See `Controller.decide`."""
        planes, scalars = self._packer.pack(senses, decision, self._limit)
        draw(self._network.forward(planes, scalars), mix(self._rng_seed, decision), self._ni, self.heads)
        nine.to_act13(self.heads, self._row)
        return self._row


class Fixed:
    """Stands still."""

    def __init__(self) -> None:
        self.heads: Heads = np.array(nine.NOOP_HEADS, np.int32)
        self._row: Row = NOOP_ROW.copy()

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> Row:
        """See `Controller.decide`."""
        return self._row


class Random:
    """Draws every head evenly, a pure function of (seed, ni, decision)."""

    def __init__(self, *, seed: int, ni: int) -> None:
        self.heads: Heads = np.zeros(len(nine.WIDTHS), np.int32)
        self._seed, self._ni = seed, ni
        self._chance = np.zeros(len(nine.WIDTHS), np.float32)
        self._row: Row = np.zeros(len(KEYS))

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> Row:
        """See `Controller.decide`."""
        units(mix(self._seed, decision), self._ni, 0, self._chance)
        self.heads[:] = self._chance * np.array(nine.WIDTHS, np.float64)  # in double: a chance below 1 never rounds up
        nine.to_act13(self.heads, self._row)
        return self._row


class Tape:
    """Plays recorded rows, one a decision, and stands still after the last."""

    heads = None

    def __init__(self, rows: npt.NDArray[np.float64]) -> None:
        self._rows = rows

    def decide(self, senses: Senses, record: npt.NDArray[np.void], decision: int) -> Row:
        """See `Controller.decide`."""
        return self._rows[decision] if decision < len(self._rows) else NOOP_ROW


def _net(network: str, spec: str, device: str | int) -> ControllerFactory:
    if network not in NETWORKS:
        raise BadInput(f"network {network!r} is unknown, expected one of {', '.join(NETWORKS)}")
    if not spec:
        raise BadInput("policy net needs a checkpoint: give --checkpoint PATH, or fixture:N for made-up weights")
    checkpoint = load_checkpoint(spec)
    shared: Network = ExactNetwork(checkpoint) if network == "exact" else TorchNetwork(checkpoint, device)
    notes = [shared.note] if shared.note else []
    if checkpoint.sidecar is not None:
        notes.append(f"policy options in {checkpoint.sidecar.name} are not read")
    return ControllerFactory(
        lambda *, ni, rng_seed, limit: Net(shared.lane(), ni=ni, rng_seed=rng_seed, limit=limit),
        tuple(notes),
        checkpoint.payload_hash,
    )


def _random(policy: str, text: str | None) -> ControllerFactory:
    """Without a seed of its own, chance follows the run's."""
    if text is None:
        return ControllerFactory(lambda *, ni, rng_seed, limit: Random(seed=rng_seed, ni=ni), (f"policy {policy}",))
    if not (text.isascii() and text.isdigit() and int(text) < 2**64):
        raise BadInput(f"policy {policy!r}: the seed is {text!r}, expected a number from 0 to 2^64-1")
    seed = int(text)
    return ControllerFactory(lambda *, ni, rng_seed, limit: Random(seed=seed, ni=ni), (f"policy {policy}",))


def _tape(path: str) -> ControllerFactory:
    rows = read_tape(path)
    note = f"policy tape:{path} ({len(rows)} decisions, then still)"
    return ControllerFactory(lambda **_: Tape(rows), (note,))

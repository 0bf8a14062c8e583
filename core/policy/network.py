"""The policy network of SPEC 8, two ways: bit-exact in compiled loops, or as a torch module on any device."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from core.errors import BadInput
from core.policy import forward as passes
from core.policy.heads import LOGITS
from core.wire.bnn1 import Checkpoint

Planes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]


class LaneNetwork(Protocol):
    """A network with one lane's scratch. Used by one thread at a time."""

    def forward(self, planes: Planes, scalars: Floats) -> Floats:
        """Returns the logits f32 [34] of planes u8 [18, 36, 64] and scalars f32 [27].

        The result is overwritten by the next call.
        """

    @property
    def value(self) -> float:
        """The critic's estimate of the newest forward pass."""


class Network(Protocol):
    """Weights that all lanes share."""

    note: str  #: what a report must say about it; empty for the native's own arithmetic

    def lane(self) -> LaneNetwork:
        """Returns the network for one more lane; the weights are not copied."""


class ExactNetwork:
    """The native CPU forward, bit for bit. Its weights take 6.3 MiB once, each lane 0.3 MiB."""

    note = ""

    def __init__(self, checkpoint: Checkpoint) -> None:
        tensors = checkpoint.tensors
        self._weights = passes.Weights(
            conv1=_output_last(tensors["conv1_w"]),
            conv1_bias=tensors["conv1_b"].copy(),
            conv2=_output_last(tensors["conv2_w"]),
            conv2_bias=tensors["conv2_b"].copy(),
            fc=_output_last(tensors["fc_w"]),
            fc_bias=tensors["fc_b"].copy(),
            out=_output_last(np.concatenate([tensors["heads_w"], tensors["value_w"]])),
            out_bias=np.concatenate([tensors["heads_b"], tensors["value_b"]]),
        )

    def lane(self) -> "ExactLane":
        """Returns the network for one more lane; the weights are not copied."""
        return ExactLane(self._weights)


class ExactLane:
    """`ExactNetwork` for one lane. A forward pass allocates nothing and holds no interpreter lock."""

    def __init__(self, weights: passes.Weights) -> None:
        self._weights = weights
        self.scratch = passes.empty_scratch()  #: every layer's activations of the newest pass
        self._logits = self.scratch.out[:LOGITS]

    def forward(self, planes: Planes, scalars: Floats) -> Floats:
        """See `LaneNetwork.forward`."""
        passes.forward(planes, scalars, self._weights, self.scratch)
        return self._logits

    @property
    def value(self) -> float:
        """See `LaneNetwork.value`."""
        return float(self.scratch.out[LOGITS])


class TorchNetwork:
    """The same weights as a torch module, one call a lane and decision. Not bit-exact: torch orders sums as it likes.

    Args:
        checkpoint: the weights.
        device: a torch device such as `cpu`, `cuda:1` or `mps`, or a GPU number as the native takes it; 0, the
            default, is the first GPU if there is one and the CPU if not.

    Raises:
        BadInput: torch is missing, or does not know or cannot use the device.
    """

    def __init__(self, checkpoint: Checkpoint, device: str | int = 0) -> None:
        torch = _import_torch()
        self._torch = torch
        self._device = _usable_device(torch, str(device))
        self.note = f"network torch on {self._device}: not bit-exact"
        # One lane's picture is too small to share among threads, and lanes already run side by side.
        torch.set_num_threads(1)
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        self._tensors = {
            name: torch.from_numpy(tensor.copy()).to(self._device) for name, tensor in checkpoint.tensors.items()
        }
        scales = np.ones((passes.CHANNELS, 1, 1), np.float32)
        scales[list(passes.DEPTH_CHANNELS)] = passes.DEPTH_SCALE
        self._scales = torch.from_numpy(scales).to(self._device)

    def lane(self) -> "TorchLane":
        """Returns the network for one more lane; the weights are not copied."""
        return TorchLane(self)

    def outputs(self, planes: Planes, scalars: Floats) -> tuple[Floats, float]:
        """Returns logits f32 [34] and the value."""
        torch, weights = self._torch, self._tensors
        functional = torch.nn.functional
        with torch.inference_mode():
            picture = torch.from_numpy(planes).to(self._device).float() * self._scales
            x = functional.relu(functional.conv2d(picture[None], weights["conv1_w"], weights["conv1_b"], stride=2))
            x = functional.relu(functional.conv2d(x, weights["conv2_w"], weights["conv2_b"], stride=2))
            x = torch.cat([x.flatten(1), torch.from_numpy(scalars).to(self._device)[None]], dim=1)
            hidden = functional.relu(functional.linear(x, weights["fc_w"], weights["fc_b"]))
            logits = functional.linear(hidden, weights["heads_w"], weights["heads_b"])
            value = functional.linear(hidden, weights["value_w"], weights["value_b"])
            return logits[0].cpu().numpy(), float(value)


class TorchLane:
    """`TorchNetwork` for one lane."""

    def __init__(self, network: TorchNetwork) -> None:
        self._network = network
        self.value = 0.0

    def forward(self, planes: Planes, scalars: Floats) -> Floats:
        """See `LaneNetwork.forward`."""
        logits, self.value = self._network.outputs(planes, scalars)
        return logits


def _output_last(tensor: Floats) -> Floats:
    """Returns a contiguous copy with the first axis, the output channel, moved last."""
    return np.ascontiguousarray(np.moveaxis(tensor, 0, -1))


def _import_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise BadInput(f"network torch: torch cannot be imported: {error}") from error
    return torch


def _usable_device(torch: Any, text: str) -> Any:
    """Returns the torch device after using it once.

    Raises:
        BadInput: torch does not know it, or cannot use it here.
    """
    if text == "0":
        name = "cuda:0" if torch.cuda.is_available() else "cpu"
    else:
        name = f"cuda:{text}" if text.isascii() and text.isdigit() else text
    try:
        device = torch.device(name)
        torch.ones(1, device=device).cpu()
    except Exception as error:  # torch raises RuntimeError, AssertionError, NotImplementedError, ...
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise BadInput(f"network torch: device {text!r} cannot be used: {reason}") from error
    return device

"""How faults are written."""

import pytest

from core.errors import BadInput
from core.worlds.voxel.faults import KINDS, Fault


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_defaults(kind):
    assert Fault.parse(kind).values["tick"] == 0


def test_values_are_whole_numbers():
    assert dict(Fault.parse("cam:px=12:tick=160").values) == {"tick": 160, "px": 12}


@pytest.mark.parametrize(
    "text",
    ["", "melt", "cam:step=3", "cam:px", "cam:px=", "cam:px=-1", "cam:px=0", "cam:px=2305", "slow:ms=1.5", "hang:"],
)
def test_anything_else_is_refused_by_name(text):
    with pytest.raises(BadInput, match="fault"):
        Fault.parse(text)

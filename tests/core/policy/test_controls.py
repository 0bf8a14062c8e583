import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from core.policy.controls import controller_factory
from core.policy.heads import to_act13
from core.policy.network import ExactNetwork
from core.policy.observe import Packer, Senses
from core.policy.sample import draw, mix
from core.wire.act13 import NOOP_ROW
from core.wire.bnn1 import fixture_checkpoint
from core.wire.bolr import RECORD
from tests.paths import DATA

GOLDEN = dict(np.load(DATA / "nn/d_pack_obs.npz"))
RECORD_OF_NOTHING = np.zeros(1, RECORD)


def senses_of(i):
    cam, depth, edge = (GOLDEN[name][i].reshape(36, 64) for name in ("cam", "depth", "edge"))
    return Senses(cam, depth, edge, GOLDEN["scal6"][i], GOLDEN["pose"][i], GOLDEN["status"][i])


def played(factory, *, ni=4, rng_seed=9, limit=100, decisions=6):
    """Returns the rows and heads of the first decisions of a fresh controller."""
    controller = factory.make(ni=ni, rng_seed=rng_seed, limit=limit)
    rows, heads = [], []
    for decision in range(decisions):
        rows.append(controller.decide(senses_of(decision % 6), RECORD_OF_NOTHING, decision).copy())
        heads.append(None if controller.heads is None else controller.heads.copy())
    return np.array(rows), heads


def test_net_packs_forwards_draws_and_looks_the_row_up():
    factory = controller_factory("net", checkpoint="fixture:7")
    assert factory.notes == ()
    rows, heads = played(factory)
    packer, lane, expected = Packer(), ExactNetwork(fixture_checkpoint(7)).lane(), np.zeros(9, np.int32)
    row = np.zeros(13)
    for decision in range(6):
        logits = lane.forward(*packer.pack(senses_of(decision), decision, 100))
        draw(logits, mix(9, decision), 4, expected)
        np.testing.assert_array_equal(heads[decision], expected)
        to_act13(expected, row)
        np.testing.assert_array_equal(rows[decision], row)


def test_lanes_of_one_factory_do_not_touch_each_other():
    factory = controller_factory("net", checkpoint="fixture:7")
    alone, _ = played(factory)
    one, other = (factory.make(ni=ni, rng_seed=9, limit=100) for ni in (4, 5))
    for decision in range(6):
        row = one.decide(senses_of(decision), RECORD_OF_NOTHING, decision)
        other.decide(senses_of(5 - decision), RECORD_OF_NOTHING, decision)
        np.testing.assert_array_equal(row, alone[decision])


def test_torch_plays_and_is_marked():
    factory = controller_factory("net", network="torch", checkpoint="fixture:7", device="cpu")
    assert factory.notes == ("network torch on cpu: not bit-exact",)
    rows, _ = played(factory)
    assert rows.shape == (6, 13)


def test_the_exact_network_never_imports_torch():
    script = (
        "import sys; from core.policy.controls import controller_factory as f; "
        "f('net', checkpoint='fixture:1').make(ni=0, rng_seed=0, limit=9); print('torch' in sys.modules)"
    )
    root = str(Path(__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.stdout == "False\n", done.stderr


def test_noop_stands_still():
    rows, heads = played(controller_factory("noop"))
    assert (rows == NOOP_ROW).all()
    assert all(nine.tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0] for nine in heads)


def test_random_depends_on_seed_ni_and_decision_alone():
    _, heads = played(controller_factory("random:5"), ni=3, decisions=40)
    _, again = played(controller_factory("random:5"), ni=3, rng_seed=77, decisions=40)
    _, other_lane = played(controller_factory("random:5"), ni=4, decisions=40)
    _, other_seed = played(controller_factory("random:6"), ni=3, decisions=40)
    np.testing.assert_array_equal(heads, again)
    assert not np.array_equal(heads, other_lane)
    assert not np.array_equal(heads, other_seed)


def test_random_without_a_seed_follows_the_run():
    _, heads = played(controller_factory("random"), rng_seed=5)
    _, expected = played(controller_factory("random:5"), rng_seed=0)
    np.testing.assert_array_equal(heads, expected)


def test_random_draws_every_choice_about_evenly():
    _, heads = played(controller_factory("random:1"), decisions=3000)
    drawn = np.array(heads)
    for head, width in enumerate((3, 3, 3, 2, 2, 2, 7, 2, 10)):
        counts = np.bincount(drawn[:, head], minlength=width)
        assert len(counts) == width
        assert (abs(counts / 3000 - 1 / width) < 0.04).all()


def test_a_tape_plays_its_rows_and_then_stands_still(tmp_path):
    tape = tmp_path / "walk.jsonl"
    tape.write_text('{"forward":1,"cam":1}\n\n{"dyaw":-15,"jump":1,"hotbar":2}\n')
    factory = controller_factory(f"tape:{tape}")
    assert factory.notes == (f"policy tape:{tape} (2 decisions, then still)",)
    rows, heads = played(factory, decisions=4)
    expected = np.array([NOOP_ROW] * 4)
    expected[0, 0] = 1
    expected[1, [2, 4, 9]] = -15, 1, 2
    np.testing.assert_array_equal(rows, expected)
    assert heads == [None] * 4


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        ("walk", {}, "policy 'walk' is unknown, expected one of net, noop"),
        ("noop:1", {}, "policy 'noop:1' is unknown"),
        ("tape:", {}, "policy 'tape:' is unknown"),
        ("random:", {}, "the seed is '', expected a number"),
        ("random:-1", {}, "the seed is '-1', expected a number"),
        ("net", {}, "needs a checkpoint"),
        ("net", {"network": "onnx", "checkpoint": "fixture:1"}, "network 'onnx' is unknown, expected one of exact"),
        ("net", {"checkpoint": "fixture:x"}, "fixture seed is 'x'"),
        ("tape:/no/such/tape.jsonl", {}, "tape /no/such/tape.jsonl: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(policy, options, message):
    with pytest.raises(BadInput, match=message) as caught:
        controller_factory(policy, **options)
    assert "\n" not in str(caught.value)


def test_a_sidecar_is_named(tmp_path):
    from core.wire.bnn1 import SIDECAR_SUFFIX, write_checkpoint

    path = tmp_path / "best.bin"
    write_checkpoint(path, fixture_checkpoint(1).tensors)
    (tmp_path / ("best.bin" + SIDECAR_SUFFIX)).write_text(json.dumps({}))
    factory = controller_factory("net", checkpoint=str(path))
    assert factory.notes == (f"policy options in best.bin{SIDECAR_SUFFIX} are not read",)
    assert factory.checkpoint_hash == fixture_checkpoint(1).payload_hash

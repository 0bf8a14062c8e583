import numpy as np
import pytest

from core.errors import BadInput
from core.policy.tape import read_tape
from tests.paths import DATA

GOLDEN = dict(np.load(DATA / "nn/d2_acts_to_rows.npz"))
IN_RANGE = ((GOLDEN["acts"] >= 0) & (GOLDEN["acts"] < [3, 3, 3, 2, 2, 2, 7, 2, 10])).all(axis=1)


def test_the_natives_lines_give_its_rows(tmp_path):
    tape = tmp_path / "native.jsonl"
    tape.write_text("".join(line.rstrip("\n") + "\n" for line in GOLDEN["json_lines"]))
    np.testing.assert_array_equal(read_tape(tape), GOLDEN["rows"])


def test_both_sides_of_a_replay_get_the_numbers_that_are_sent(tmp_path):
    tape = tmp_path / "digits.jsonl"
    tape.write_text('{"dyaw":0.12345678912345,"hotbar":3.9}\n')
    row = read_tape(tape)[0]
    assert (row[2], row[9]) == (0.123456789, 3.0)


@pytest.mark.parametrize(("save", "name"), [(np.save, "tape.npy"), (np.savez, "tape.npz")])
@pytest.mark.parametrize("what", ["rows", "acts"])
def test_arrays_of_rows_and_of_heads_give_rows(tmp_path, save, name, what):
    array = GOLDEN[what][IN_RANGE]
    save(tmp_path / name, array)
    np.testing.assert_array_equal(read_tape(tmp_path / name), GOLDEN["rows"][IN_RANGE])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no action"),
        ("\n \n", "holds no action"),
        ('{"forward":1}\n{"forward":', "line 2 is not JSON: "),
        ("[1,2]", "line 1 is not a JSON object"),
        ("[" * 100_000, "line 1 is nested too deeply"),
        ('{"jump":true}', "line 1: jump is true, expected a number"),
        ('{"hotbar":null}', "line 1: hotbar is null, expected a number"),
        ('{"dyaw":"15"}', 'line 1: dyaw is "15", expected a number'),
        ('{"dyaw":NaN}', "line 1: act13 dyaw is nan, expected a finite number"),
        ('{"dyaw":1' + "0" * 400 + "}", "line 1: act13 dyaw is inf, expected a finite number"),
        ('{"craft":1e10}', "line 1: act13 craft is 1e\\+10, expected a 32-bit integer"),
        ('{"foward":1}', "line 1: unknown key 'foward', expected forward, "),
        ('{"jump":1,"jump":0}', "line 1: a key appears twice"),
    ],
)
def test_a_line_that_cannot_be_played_is_named(tmp_path, text, message):
    tape = tmp_path / "bad.jsonl"
    tape.write_text(text)
    with pytest.raises(BadInput, match=message) as caught:
        read_tape(tape)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path):
    tape = tmp_path / "tape.bin"
    tape.write_bytes(b"\x00\xff\xfe")
    with pytest.raises(BadInput, match="byte 1 is not UTF-8"):
        read_tape(tape)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 9)), "array is float64 2x9, expected numbers n x 13 or integer heads n x 9"),
        (np.zeros((2, 12)), "array is float64 2x12"),
        (np.zeros(13), "array is float64 13,"),
        (np.array(["a"]), "array is <U1 1,"),
        (np.zeros((0, 13)), "holds no action"),
        (np.full((1, 9), 3), "decision 0: head yaw is 3, expected 0 to 2"),
        (np.full((1, 13), np.inf), "decision 0: act13 forward is inf"),
    ],
)
def test_an_array_that_cannot_be_played_is_named(tmp_path, array, message):
    tape = tmp_path / "bad.npy"
    np.save(tape, array)
    with pytest.raises(BadInput, match=message):
        read_tape(tape)


def test_a_damaged_or_ambiguous_array_file_is_named(tmp_path):
    pickled, broken, two = tmp_path / "p.npy", tmp_path / "b.npz", tmp_path / "two.npz"
    np.save(pickled, np.array([{}], object), allow_pickle=True)
    broken.write_bytes(b"PK\x03\x04 but no more")
    np.savez(two, a=np.zeros((1, 13)), b=np.zeros((1, 13)))
    for path, message in (
        (pickled, "is not a numpy file that can"),
        (broken, "is not a numpy file that can"),
        (two, "holds 2 arrays"),
    ):
        with pytest.raises(BadInput, match=message):
            read_tape(path)


def test_a_damaged_array_file_never_ends_in_anything_but_one_line(tmp_path):
    rows = tmp_path / "rows.npy"
    np.save(rows, np.zeros((5, 13)))
    whole = rows.read_bytes()
    packed = tmp_path / "rows.npz"
    np.savez_compressed(packed, np.arange(65.0).reshape(5, 13))
    zipped = packed.read_bytes()
    for name, damaged in (
        ("more than any memory", whole.replace(b"(5, 13), }          ", b"(99999999999, 13), }")),
        ("an open bracket", whole.replace(b"}", b"(", 1)),
        ("no deflated data", zipped[:80] + b"\xff" * 20 + zipped[100:]),
    ):
        path = tmp_path / f"damaged{'.npy' if damaged[:1] == whole[:1] else '.npz'}"
        assert damaged not in (whole, zipped), name
        path.write_bytes(damaged)
        with pytest.raises(BadInput, match="is not a numpy file that can be read: "):
            read_tape(path)

"""Ten bad inputs of each kind: one clear line that names what, where and why, and the documented exit code."""

import gzip
import json
import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import msgpack
import pytest

from core.errors import ExitCode
from core.ladder.warmup import ensure_warm
from core.runs import store
from core.wire import bnn1
from netherite_tui.cli import run_cli
from tests.commandline import make_toy, netherite
from tests.paths import DATA
from tests.toys import toy_library

Damage = Callable[[bytes], bytes]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose runs and config file are the only ones there are."""
    monkeypatch.setenv("NETHERITE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("NETHERITE_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path


def fails(capsys: pytest.CaptureFixture[str], code: ExitCode, text: str, *arguments: str) -> None:
    """Asserts that a command says exactly one line, on stderr, with `text` in it, and ends with `code`."""
    assert run_cli(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("netherite-tui: ")
    assert text in err


def at(offset: int, data: bytes) -> Damage:
    return lambda whole: whole[:offset] + data + whole[offset + len(data) :]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"tries = 3", "expected only the tables [run], [ui], [keys], found 'tries'"),
        (b"[run]\ntrys = 3", "unknown key 'trys'; expected one of backend, device,"),
        (b"[run]\ntries = 17", "tries: expected a whole number from 1 to 16, found 17"),
        (b"[run]\ntries = true", "tries: expected a whole number from 1 to 16, found True"),
        (b"[run]\nseeds = [2, 2]", "seeds: expected 1 to 32 different whole numbers"),
        (b"[run]\nbackend = 'oracle'", "backend: expected one of cpu, cuda, metal, magma, voxel, found 'oracle'"),
        (b"[run]\nstep_timeout_s = nan", "step_timeout_s: expected seconds above 0"),
        (b"[run]\npolicy = 'tape:'", "policy: expected net, noop, bot, random, random:SEED or tape:PATH"),
        (b"[run\n", "config.toml: "),
        (b"\xff\xfe", "config.toml: "),
        (b"[run]\naction_repeat = 7", "ep_ticks: expected a multiple of action_repeat (7), found 6000"),
    ],
)
def test_bad_config_files(home: Path, capsys: pytest.CaptureFixture[str], content: bytes, text: str) -> None:
    (home / "config.toml").write_bytes(content)
    fails(capsys, ExitCode.USAGE, text, "config")


@pytest.fixture(scope="module")
def weights() -> bytes:
    ensure_warm(("policy",), lambda line: None)  # compiling would say so before the one line
    return b"".join(bnn1.checkpoint_bytes(bnn1.fixture_checkpoint(1).tensors))


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda whole: b"", "truncated at magic: 0 bytes left, expected 4"),
        (lambda whole: whole[:-1], "truncated at payload hash: 7 bytes left, expected 8"),
        (lambda whole: whole[:5000], "truncated at payload: "),
        (lambda whole: whole + b"!", "1 trailing bytes after the payload hash, expected the end of the file"),
        (at(0, b"PK\3\4"), "magic is 0x04034b50, expected 0x314e4e42"),
        (at(4, b"\2"), "schema is 2, expected 1"),
        (at(8, b"\0"), "model hash is 0xea22ea947f23a400, expected 0xea22ea947f23a453"),
        (at(24, b"conv9"), "tensor name is 'conv9_w', expected 'conv1_w'"),
        (at(39, b"\x40"), "dim 0 of conv1_w is 64, expected 32"),
        (at(3_000_000, b"\0\0\0\0"), "payload hash is 0x6560571a80587972, expected 0x"),
    ],
)
def test_bad_checkpoints(
    home: Path, capsys: pytest.CaptureFixture[str], weights: bytes, damage: Damage, text: str
) -> None:
    path = home / "policy.bin"
    path.write_bytes(damage(weights))
    toy = make_toy(home, (2,))[:-1]
    fails(capsys, ExitCode.USAGE, f"checkpoint {path}: {text}", "run", *toy, f"--checkpoint={path}")
    assert not (home / "runs").exists()


def test_files_that_are_no_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = make_toy(home, (2,))
    os.mkfifo(home / "pipe")
    for option, name in ((f"--checkpoint={home}/pipe", "checkpoint"), (f"--policy=tape:{home}/pipe", "policy")):
        text = f"{name}: expected a regular file, found {home}/pipe"
        fails(capsys, ExitCode.USAGE, text, "run", *toy, "--policy=net", option)


def test_escape_sequences_in_names_never_reach_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = make_toy(home, (2,))
    assert run_cli(["run", *toy, "--snaps-dir=/nowhere/\x1b[31mred"]) == ExitCode.USAGE
    assert capsys.readouterr().err == "eval: missing t0 snapshot: /nowhere/\\x1b[31mred/s2_t0.bsnp\n"


def test_a_lane_program_that_is_no_program(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = make_toy(home, (2,))
    (home / "toy").chmod(0o644)
    text = f"magma_bin: expected a program that can be executed, found {home / 'toy'}"
    fails(capsys, ExitCode.USAGE, text, "run", *toy)


@pytest.mark.parametrize("step", ["", "x", "-1", "1.5"])
def test_a_fault_without_a_step_says_so(home: Path, capsys: pytest.CaptureFixture[str], step: str) -> None:
    text = f"step is {step!r}, expected a whole number of at least 0" if step else "expected [SEED:TRY:]KIND:key=value"
    fails(capsys, ExitCode.USAGE, text, "run", "--backend=voxel", "--policy=noop", f"--fault=hang:step={step}")


@pytest.fixture(scope="module")
def snapshot() -> bytes:
    return gzip.decompress((DATA / "magma/s10_t0.bsnp.gz").read_bytes())


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda whole: b"", "not a snapshot: magic is b'', expected b'BSNP'"),
        (at(0, b"BOLR"), "not a snapshot: magic is b'BOLR', expected b'BSNP'"),
        (at(4, b"\2"), "snapshot version 2, expected 1"),
        (at(8, b"\x0b"), "seed is 11, expected 10"),
        (lambda whole: whole[:751], "truncated: 751 bytes, expected at least 752 to hold the head"),
        (lambda whole: whole[:-1], "to hold 12523 coal cells"),
        (lambda whole: whole + b"\0", "1 trailing bytes after the coal list"),
        (at(740, struct.pack("<i", 0)), "region size rnx is 0, expected 1..4096"),
        (at(724, b"\xff\xff\xff\xff"), "to hold 4294967295 items"),
        (at(32, struct.pack("<d", float("inf"))), "pos is inf, 66, 8.5, expected finite numbers"),
    ],
)
def test_bad_snapshots(
    home: Path, capsys: pytest.CaptureFixture[str], snapshot: bytes, damage: Damage, text: str
) -> None:
    (home / "s10_t0.bsnp").write_bytes(damage(snapshot))
    options = [f"--snaps-dir={home}", "--seeds=10", "--backend=cpu", "--policy=noop"]
    assert run_cli(["doctor", *options]) == ExitCode.LANES_LOST
    out, err = capsys.readouterr()
    (line,) = (line for line in out.splitlines() if "snapshots" in line[6:20])
    assert line.startswith(f"bad   snapshots      {home / 's10_t0.bsnp'}: ")
    assert text in line
    assert err == ""


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda whole: b"", "not a snapshot: magic is b''"),
        (at(4, b"\2"), "snapshot version 2, expected 1"),
        (at(8, b"\x0b"), "seed is 11, expected 10"),
        (lambda whole: whole[:-7], "truncated: 4345329 bytes, expected at least 4345336 to hold 12523 coal cells"),
    ],
)
@pytest.mark.parametrize("reader", [["--backend=voxel"], ["--backend=magma", "--transfer=replay", "--reference=voxel"]])
def test_snapshots_the_embedded_world_cannot_load(
    home: Path, capsys: pytest.CaptureFixture[str], snapshot: bytes, damage: Damage, text: str, reader: list[str]
) -> None:
    toy = make_toy(home, (10,))[1:]
    path = home / "snaps" / "s10_t0.bsnp"
    path.write_bytes(damage(snapshot))
    for command in ("run", "check"):
        fails(capsys, ExitCode.USAGE, f"{path}: {text}", command, *toy, *reader)
    assert not (home / "runs").exists()


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Things that are not a usable blaze library, by name."""
    folder = tmp_path_factory.mktemp("libraries")
    whole = toy_library(folder, "OLDER_ABI").read_bytes()
    toy_library(folder, "NO_EMIT")
    (folder / "stranger.c").write_text("int stranger;\n")
    subprocess.run(["cc", "-shared", "-o", folder / "stranger.so", folder / "stranger.c"], check=True)
    (folder / "folder.so").mkdir()
    for name, content in {
        "empty.so": b"",
        "text.so": b"int main;\n",
        "cut.so": whole[:2000],
        "head.so": whole[:40],
        "other-machine.so": whole[:18] + b"\x08\0" + whole[20:],
        "other-class.so": whole[:4] + b"\1" + whole[5:],
    }.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("none.so", "blaze_lib: expected a readable file, found "),
        ("folder.so", "blaze_lib: expected a readable file, found "),
        ("empty.so", "cannot be loaded: file too short"),
        ("text.so", "cannot be loaded: "),
        ("cut.so", "cut.so"),  # the loader itself is killed by it, or says so
        ("head.so", "cannot be loaded: "),
        ("other-machine.so", "cannot be loaded: "),
        ("other-class.so", "cannot be loaded: "),
        ("stranger.so", "has no function blaze_create"),
        ("toy_blaze_no_emit.so", "has no function blaze_emit"),
        ("toy_blaze_older_abi.so", "is of the older ABI, which knows only 50; found 17"),
    ],
)
def test_bad_libraries(home: Path, capsys: pytest.CaptureFixture[str], libraries: Path, name: str, text: str) -> None:
    toy = [*make_toy(home, (2,))[1:], f"--blaze-lib={libraries / name}", "--success-item=17"]
    fails(capsys, ExitCode.USAGE, text, "run", *toy, "--backend=cpu")
    assert not (home / "runs").exists()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two lanes that has ended."""
    folder = tmp_path_factory.mktemp("finished")
    netherite(folder / "runs", "run", *make_toy(folder, (2,)), "--tries=2", "--ep-ticks=8")
    (run,) = store.run_folders(folder / "runs")
    return run


@pytest.fixture
def copied(home: Path, finished: Path) -> Path:
    """A copy of that run, to be damaged."""
    return Path(shutil.copytree(finished, home / "runs" / finished.name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing", "run 'nothing': expected an id, a prefix or `last`, found no such run in "),
        ("", "run '': expected an id, a prefix or `last`"),
        ("las", "run 'las': expected an id"),
        ("LAST", "run 'LAST': expected an id"),
        ("2", "run '2': expected one run, found 2: "),
        ("..", "run '..': expected an id"),
        ("/", "run '/': expected an id"),
        ("20990101-000000-abcdef", "run '20990101-000000-abcdef': expected an id"),
        ("*", "run '*': expected an id"),
        ("a\nb", "expected an id, a prefix or `last`"),
    ],
)
def test_bad_run_ids(home: Path, copied: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    shutil.copytree(copied, copied.with_name("20000101-000000-aaa"))
    for command in ("show", "export", "stop"):
        fails(capsys, ExitCode.USAGE, text, command, name)


def frame(fields: object) -> bytes:
    payload = msgpack.packb(fields)
    return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


@pytest.mark.parametrize(
    ("damage", "code", "text"),
    [
        (at(0, b"\0\0\0\0"), ExitCode.REFUSED, "damaged at byte 0; expected a whole frame"),
        (at(0, b"\xff\xff\xff\xff"), ExitCode.REFUSED, "damaged at byte 0"),
        (at(4, b"\1\2\3\4"), ExitCode.REFUSED, "damaged at byte 0"),
        (at(20, b"\0\0"), ExitCode.REFUSED, "damaged at byte 0"),
        (lambda whole: b"#" + whole, ExitCode.REFUSED, "damaged at byte 0"),
        (lambda whole: whole[1:], ExitCode.REFUSED, "damaged at byte 0"),
        (lambda whole: whole[:200] + whole[201:], ExitCode.REFUSED, "damaged at byte "),
        (lambda whole: whole[:300] + b"\0" * 64 + whole[364:], ExitCode.REFUSED, "damaged at byte "),
        (lambda whole: whole + frame({"kind": "result"}), ExitCode.USAGE, "a frame is not of this version (KeyError"),
        (lambda whole: whole + frame({"kind": "event"}), ExitCode.USAGE, "a frame is not of this version (KeyError"),
    ],
)
def test_bad_journals(
    copied: Path, capsys: pytest.CaptureFixture[str], damage: Damage, code: ExitCode, text: str
) -> None:
    journal = copied / store.JOURNAL
    journal.write_bytes(damage(journal.read_bytes()))
    for arguments in (("show", "last"), ("export", "last"), ("run", "--resume=last")):
        fails(capsys, code, f"journal {journal}: {text}", *arguments)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda manifest: {**manifest, "format": 2}, "expected format 1, found 2"),
        (lambda manifest: {k: v for k, v in manifest.items() if k != "config"}, "not whole (KeyError: 'config')"),
        (lambda manifest: {**manifest, "lanes": [[1, 2]]}, "not whole (ValueError: "),
        (lambda manifest: {**manifest, "config": {"trys": 1}}, "unknown key 'trys'"),
        (lambda manifest: [], "expected format 1, found None"),
        (lambda manifest: {**manifest, "lanes": [[None, *lane[1:]] for lane in manifest["lanes"]]}, "not whole (Value"),
        (lambda manifest: {**manifest, "created": 1e300}, "created: expected unix seconds, found '1e+300'"),
        (lambda manifest: {**manifest, "created": "now"}, "created: expected unix seconds, found 'now'"),
        (lambda manifest: {**manifest, "versions": []}, "versions: expected texts by name, found '[]'"),
        (lambda manifest: {**manifest, "argv": [[]]}, "argv: expected a list of texts, found '[[]]'"),
        (lambda manifest: {**manifest, "notes": 1}, "notes: expected a list of texts, found '1'"),
        (lambda manifest: {**manifest, "origins": None}, "origins: expected texts by name, found 'None'"),
        (lambda manifest: {**manifest, "directory": "\0"}, "directory: expected a path, found "),
        (lambda manifest: {**manifest, "engine": True}, "engine: expected host, boot_id, pid, start and socket, found"),
        (lambda manifest: {**manifest, "config": {"faults": 1}}, "config: expected settings by name, found "),
        (lambda manifest: {**manifest, "argv": ["\ud800"]}, "expected JSON, found something else"),
    ],
)
def test_bad_manifests(
    copied: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[dict], object], text: str
) -> None:
    path = copied / store.MANIFEST
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    for command in ("show", "export"):
        fails(capsys, ExitCode.USAGE, text, command, "last")

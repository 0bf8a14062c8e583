"""Settings: the native's dump, ranges, layers and the config file."""

from pathlib import Path

import pytest

from core.errors import BadInput, ExitCode
from core.ladder.config import (
    ALL_JOBS,
    KEYS,
    LadderConfig,
    config_from_dict,
    config_to_dict,
    dump_config,
    parse_set,
    read_config_file,
    resolve,
)

NATIVE = Path(__file__).parents[2] / "data" / "native"


def test_dump_of_defaults_is_the_natives() -> None:
    assert dump_config(LadderConfig()) == (NATIVE / "dump_config_defaults.txt").read_text()


def test_dump_of_arguments_is_the_natives() -> None:
    flags = {"backend": "magma", "seeds": "2,10", "tries": "2", "stage": "all", "transfer": "replay"}
    assert dump_config(resolve([("flag", flags)]).config) == (NATIVE / "dump_config_args.txt").read_text()


def test_our_keys_are_dumped_only_when_set() -> None:
    config = resolve([("flag", {"jobs": "3", "lane_args": ["--view-distance", "2"], "lane_timeout_s": "90"})]).config
    ours = [line for line in dump_config(config).splitlines() if line.startswith("# ")]
    assert ours == [
        "# lane_args        = --view-distance 2",
        "# jobs             = 3",
        "# lane_timeout_s   = 90",
    ]


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("backend", "gpu", "one of cpu, cuda, metal, magma, voxel"),
        ("device", "64", "a device number from 0 to 63"),
        ("device", "tpu", "a device number from 0 to 63"),
        ("seeds", "", "1 to 32 different whole numbers"),
        ("seeds", "1,2,x", "1 to 32 different whole numbers"),
        ("seeds", "1,1", "1 to 32 different whole numbers"),
        ("seeds", "1_0", "1 to 32 different whole numbers"),
        ("tries", "\u0663", "a whole number from 1 to 16"),
        ("seed", "9" * 5000, "a whole number from 0 to"),
        ("lane_args", "\udcff", "text in UTF-8"),
        ("seeds", ",".join(map(str, range(33))), "1 to 32 different whole numbers"),
        ("seeds", "4294967296", "1 to 32 different whole numbers"),
        ("tries", "0", "a whole number from 1 to 16"),
        ("tries", "17", "a whole number from 1 to 16"),
        ("tries", "2.5", "a whole number from 1 to 16"),
        ("ep_ticks", "-4", "a whole number from 1 to"),
        ("action_repeat", "65", "a whole number from 1 to 64"),
        ("success_item", "torch", "a whole number from 1 to"),
        ("seed", "-1", "a whole number from 0 to"),
        ("stage", "5", "0 to 4, or all"),
        ("stage", "none", "0 to 4, or all"),
        ("transfer", "open", "one of closed, replay"),
        ("policy", "random:x", "net, noop, bot, random, random:SEED or tape:PATH"),
        ("policy", "tape:", "net, noop, bot, random, random:SEED or tape:PATH"),
        ("network", "jax", "one of exact, torch"),
        ("reference", "oracle", "one of blaze, voxel"),
        ("jobs", "0", "auto, all, or a whole number from 1"),
        ("after_diverge", "go", "one of stop, continue"),
        ("retries", "-1", "a whole number from 0 to 10"),
        ("stuck", "wait", "one of kill, ask"),
        ("step_timeout_s", "0", "seconds above 0"),
        ("step_timeout_s", "nan", "seconds above 0"),
        ("lane_timeout_s", "never", "off, or seconds above 0"),
        ("checkpoint", "a\nb", "one line of text"),
    ],
)
def test_a_value_out_of_range_is_one_line_with_key_expected_found(key: str, text: str, expected: str) -> None:
    with pytest.raises(BadInput) as caught:
        resolve([("flag", {key: text})])
    message = str(caught.value)
    assert message.startswith(f"{key}: expected {expected}")
    assert ", found " in message
    assert "\n" not in message
    assert caught.value.exit_code == ExitCode.USAGE


def test_ep_ticks_must_be_whole_decisions() -> None:
    with pytest.raises(BadInput, match=r"^ep_ticks: expected a multiple of action_repeat \(7\), found 6000$"):
        resolve([("flag", {"action_repeat": "7"})])


def test_the_later_layer_wins_and_origins_are_kept() -> None:
    resolved = resolve(
        [
            ("config file", {"tries": 3, "jobs": "all", "seeds": [4, 5]}),
            ("--set", {"tries": "2"}),
            ("flag", {"seed": "9"}),
        ]
    )
    config = resolved.config
    assert (config.tries, config.jobs, config.seeds, config.seed) == (2, ALL_JOBS, (4, 5), 9)
    assert {key: origin for key, origin in resolved.origins.items() if origin != "default"} == {
        "tries": "--set",
        "jobs": "config file",
        "seeds": "config file",
        "seed": "flag",
    }


def test_unknown_keys_and_bad_sets_are_named() -> None:
    with pytest.raises(BadInput, match=r"^--set: unknown key 'trise'; expected one of backend, "):
        resolve([("--set", parse_set(["trise=2"]))])
    with pytest.raises(BadInput, match=r"^--set: expected key=value, found 'tries'$"):
        parse_set(["tries"])
    with pytest.raises(BadInput, match=r"^--set: tries: expected a whole number from 1 to 16, found '99'$"):
        resolve([("--set", parse_set(["tries=99"]))])


def test_backend_voxel_brings_its_own_defaults() -> None:
    config = LadderConfig(backend="voxel")
    assert (config.snaps_dir, config.reference) == ("generated", "voxel")
    assert LadderConfig(backend="cuda").blaze_lib == "out/blaze/env/blaze_cuda.so"
    assert LadderConfig(backend="voxel", snaps_dir="snaps").snaps_dir == "snaps"


def test_a_missing_config_file_is_no_error(tmp_path: Path) -> None:
    assert read_config_file(tmp_path / "config.toml") == {"run": {}, "ui": {}, "keys": {}}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[run]\ntrise = 3\n", "unknown key 'trise'"),
        ("[run]\ntries = 0\n", "tries: expected a whole number from 1 to 16, found 0"),
        ("[run]\ntries = true\n", "tries: expected a whole number from 1 to 16, found True"),
        ("[run]\nseeds = [1, 'x']\n", "seeds: expected 1 to 32 different"),
        ("[runs]\n", "expected only the tables [run], [ui], [keys], found 'runs'"),
        ("tries = 3\n", "expected only the tables [run], [ui], [keys], found 'tries'"),
        ("[run\n", "config file"),
        ("[run]\ntries = 3\ntries = 4\n", "config file"),
        ("[run]\nseeds = " + "[" * 5000, "is nested too deeply"),
    ],
)
def test_a_bad_config_file_is_named_in_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_config_file(path)
    assert str(caught.value).startswith(f"config file {path}: ")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_config_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"^config file "):
        read_config_file(path)


def test_manifest_round_trip() -> None:
    for flags in ({}, {"jobs": "all", "stage": "all", "faults": ["hang:step=3"], "lane_timeout_s": "5"}, {"jobs": "2"}):
        config = resolve([("flag", flags)]).config
        assert config_from_dict(config_to_dict(config)) == config


def test_every_field_is_a_key_and_every_option_is_unique() -> None:
    assert list(KEYS) == list(config_to_dict(LadderConfig()))
    assert len({key.option for key in KEYS.values()}) == len(KEYS)
    assert KEYS["action_repeat"].option == "--repeat"

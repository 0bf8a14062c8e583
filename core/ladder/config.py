"""What a run is asked to do: the native eval's keys and ours, their ranges, and where each value came from (SPEC 10).

Values reach a config in layers, weakest first: default, config file, `--set`, typed flag. Every layer maps a key to a
text (or, from TOML, to a number, a text or a list of them); `resolve` checks each value and keeps the layer's name.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

from core.errors import BadInput

DEFAULT_SEEDS = (2, 3, 10, 11, 14, 16, 20, 27, 29, 32, 33, 44, 46)
MAX_SEEDS, MAX_TRIES = 32, 16
STAGES = (0, 1, 2, 3, 4)
ALL_STAGES = "all"
AUTO_JOBS, ALL_JOBS = 0, MAX_SEEDS * MAX_TRIES * len(STAGES)
GENERATED = "generated"  #: snaps_dir of the embedded world: terrain from the seed, no snapshot files


@dataclass(frozen=True)
class LadderConfig:
    """A run's settings; the native's keys first, then ours. Build one by `resolve`, or directly with checked values."""

    backend: str = "cpu"  #: cpu, cuda: blaze alone; magma: the game; voxel: the embedded world; metal is refused later
    device: str = "0"
    checkpoint: str = ""  #: a path or fixture:N
    snaps_dir: str = ""  #: empty = the backend's default
    seeds: tuple[int, ...] = DEFAULT_SEEDS
    tries: int = 5
    ep_ticks: int = 6000
    action_repeat: int = 4
    success_item: int = 50
    seed: int = 0  #: rng_seed of stage 0
    metal_max_cells: int = 2_097_152  #: accepted and unused
    metallib: str = "auto"  #: accepted and unused
    stage: int | str = 0  #: 0..4 or "all"
    transfer: str = "closed"
    magma_bin: str = "magma/magma_game"

    policy: str = "net"
    network: str = "exact"
    blaze_lib: str = ""  #: empty = the backend's default
    reference: str = ""  #: replay's other side: blaze or voxel; empty = the backend's default
    lane_args: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    jobs: int = AUTO_JOBS  #: lanes at a time; AUTO_JOBS = by cores and memory, ALL_JOBS = no limit
    after_diverge: str = "stop"
    retries: int = 1
    stuck: str = "kill"
    start_timeout_s: float = 120.0
    step_timeout_s: float = 30.0
    lane_timeout_s: float | None = None  #: None = no limit

    def __post_init__(self) -> None:
        voxel, cuda = self.backend == "voxel", self.backend == "cuda"
        self._default("snaps_dir", GENERATED if voxel else "blaze/rl/out/snaps")
        self._default("reference", "voxel" if voxel else "blaze")
        self._default("blaze_lib", f"out/blaze/env/blaze_{'cuda' if cuda else 'cpu'}.so")
        if self.ep_ticks % self.action_repeat:
            raise BadInput(
                f"ep_ticks: expected a multiple of action_repeat ({self.action_repeat}), found {self.ep_ticks}"
            )

    def _default(self, name: str, value: str) -> None:
        if not getattr(self, name):
            object.__setattr__(self, name, value)

    @property
    def decisions(self) -> int:
        """Decisions of a whole episode."""
        return self.ep_ticks // self.action_repeat

    @property
    def stages(self) -> tuple[int, ...]:
        """The stages to run, in order."""
        return STAGES if self.stage == ALL_STAGES else (int(self.stage),)

    @property
    def has_magma(self) -> bool:
        """Whether each lane drives a lane process (the game or the embedded world's)."""
        return self.backend in ("magma", "voxel")

    @property
    def is_replay(self) -> bool:
        """Whether two worlds are compared."""
        return self.transfer == "replay"


# ---- one value ------------------------------------------------------------------------------------------------------

Raw = Any  #: what a layer may hold for a key: text, or a TOML scalar or list


class _Unfit(ValueError):
    """A value that does not fit; the text says what was expected."""


#: Narrower than `int`, which also reads `1_0` and the digits of other scripts.
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")


def _integer(low: int, high: int) -> Callable[[Raw], int]:
    def read(raw: Raw) -> int:
        try:
            value = (int(raw) if _WHOLE.fullmatch(raw) else None) if isinstance(raw, str) else raw
        except ValueError:  # more digits than python reads
            value = None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _Unfit(f"a whole number from {low} to {high}")
        return value

    return read


class _Choice:
    """Reads one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, raw: Raw) -> str:
        if raw not in self.words:
            raise _Unfit("one of " + ", ".join(self.words))
        return str(raw)


def _text(raw: Raw) -> str:
    if not isinstance(raw, str | int) or isinstance(raw, bool) or any(c in str(raw) for c in "\0\n\r"):
        raise _Unfit("one line of text")
    text = str(raw)
    if any("\ud800" <= c <= "\udfff" for c in text):  # bytes of the command line that no file of ours could hold
        raise _Unfit("text in UTF-8")
    return text


def _seconds(raw: Raw) -> float:
    try:
        value = float(raw)
    except (TypeError, ValueError):
        value = -1.0
    if isinstance(raw, bool) or not 0 < value <= 1e7:
        raise _Unfit("seconds above 0, at most 10000000")
    return value


def _seconds_or_off(raw: Raw) -> float | None:
    if raw == "off":
        return None
    try:
        return _seconds(raw)
    except _Unfit:
        raise _Unfit("off, or seconds above 0, at most 10000000") from None


def _seeds(raw: Raw) -> tuple[int, ...]:
    parts = raw.split(",") if isinstance(raw, str) else raw if isinstance(raw, list | tuple) else [raw]
    one = _integer(-(2**31), 2**31 - 1)
    try:
        seeds = tuple(one(part.strip() if isinstance(part, str) else part) for part in parts)
    except _Unfit:
        seeds = ()
    if not 1 <= len(seeds) <= MAX_SEEDS or len(set(seeds)) != len(seeds):
        raise _Unfit(f"1 to {MAX_SEEDS} different whole numbers separated by commas")
    return seeds


def _texts(raw: Raw) -> tuple[str, ...]:
    return tuple(_text(part) for part in (raw if isinstance(raw, list | tuple) else [raw] if raw != "" else []))


def _stage(raw: Raw) -> int | str:
    if raw == ALL_STAGES:
        return ALL_STAGES
    try:
        return _integer(0, STAGES[-1])(raw)
    except _Unfit:
        raise _Unfit("0 to 4, or all") from None


def _jobs(raw: Raw) -> int:
    words = {"auto": AUTO_JOBS, "all": ALL_JOBS}
    if isinstance(raw, str) and raw in words:
        return words[raw]
    try:
        return _integer(1, ALL_JOBS)(raw)
    except _Unfit:
        raise _Unfit(f"auto, all, or a whole number from 1 to {ALL_JOBS}") from None


def _policy(raw: Raw) -> str:
    text = _text(raw)
    word, _, rest = text.partition(":")
    plain = text in ("net", "noop", "bot", "random")
    random_seed = word == "random" and rest.isascii() and rest.isdigit() and int(rest) < 2**64
    if not (plain or random_seed or (word == "tape" and rest)):
        raise _Unfit("net, noop, bot, random, random:SEED or tape:PATH")
    return text


def _device(raw: Raw) -> str:
    text = _text(raw)
    kind, colon, number = text.partition(":")
    index = number if colon else kind if kind.isdigit() else "0"
    if not (kind in ("cpu", "cuda", "mps") or (not colon and kind.isdigit())) or not index.isdigit() or int(index) > 63:
        raise _Unfit("a device number from 0 to 63, or cpu, cuda, cuda:N, mps")
    return text


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: how it is read, and what the command line says about it."""

    name: str
    read: Callable[[Raw], Any]
    help: str
    native: bool = True
    flag: str = ""  #: the option's name when it is not the key's with dashes
    repeatable: bool = False

    @property
    def option(self) -> str:
        """The command-line option that sets this key."""
        return "--" + (self.flag or self.name.replace("_", "-"))

    @property
    def words(self) -> tuple[str, ...]:
        """The words it takes, where those are all."""
        return self.read.words if isinstance(self.read, _Choice) else ()


def _keys() -> Iterator[Key]:
    yield Key("backend", _Choice("cpu", "cuda", "metal", "magma", "voxel"), "what runs the lanes")
    yield Key("device", _device, "device number, or the torch device of --network torch")
    yield Key("checkpoint", _text, "BNN1 file, or fixture:N for built-in weights")
    yield Key("snaps_dir", _text, "folder of the snapshots, or `generated`")
    yield Key("seeds", _seeds, "world seeds separated by commas")
    yield Key("tries", _integer(1, MAX_TRIES), "episodes a seed, 1..16")
    yield Key("ep_ticks", _integer(1, 2**31 - 1), "ticks of an episode")
    yield Key("action_repeat", _integer(1, 64), "ticks of a decision, 1..64", flag="repeat")
    yield Key("success_item", _integer(1, 32767), "item id that ends an episode with success")
    yield Key("seed", _integer(0, 2**63 - 1), "seed of the sampler (rng_seed of stage 0)")
    yield Key("metal_max_cells", _integer(0, 2**31 - 1), "accepted, unused")
    yield Key("metallib", _text, "accepted, unused")
    yield Key("stage", _stage, "start stage 0..4, or all")
    yield Key("transfer", _Choice("closed", "replay"), "one world, or two compared")
    yield Key("magma_bin", _text, "the game's program")

    ours = partial(Key, native=False)
    yield ours("policy", _policy, "net, noop, bot, random[:SEED], tape:PATH")
    yield ours("network", _Choice("exact", "torch"), "how the network is computed")
    yield ours("blaze_lib", _text, "the blaze library")
    yield ours("reference", _Choice("blaze", "voxel"), "the other side of a replay")
    yield ours("lane_args", _texts, "one more argument for every lane process", flag="lane-arg", repeatable=True)
    yield ours("faults", _texts, "a fault to inject: [SEED:TRY:]KIND:key=value", flag="fault", repeatable=True)
    yield ours("jobs", _jobs, "lanes at a time: auto, all or a number")
    yield ours("after_diverge", _Choice("stop", "continue"), "what the game does after the first difference")
    yield ours("retries", _integer(0, 10), "times a lost lane is run again")
    yield ours("stuck", _Choice("kill", "ask"), "what to do with a lane past its step deadline")
    yield ours("start_timeout_s", _seconds, "seconds until the first record", flag="start-timeout")
    yield ours("step_timeout_s", _seconds, "seconds for one decision", flag="step-timeout")
    yield ours("lane_timeout_s", _seconds_or_off, "seconds for a whole lane, or off", flag="lane-timeout")


KEYS: Mapping[str, Key] = {key.name: key for key in _keys()}


def read_value(name: str, raw: Raw, where: str = "") -> Any:
    """Returns the checked value of one key.

    Args:
        name: a key of `KEYS`.
        raw: its text, or a TOML value.
        where: what to blame in the message, e.g. a file name; empty = nothing more than the key.

    Raises:
        BadInput: the key is unknown, or the value does not fit: key, expected, found.
    """
    place = f"{where}: " if where else ""
    key = KEYS.get(name)
    if key is None:
        raise BadInput(f"{place}unknown key {name!r}; expected one of {', '.join(KEYS)}")
    try:
        return key.read(raw)
    except _Unfit as unfit:
        raise BadInput(f"{place}{name}: expected {unfit}, found {_shown(raw)}") from None


def _shown(raw: Raw) -> str:
    text = repr(raw)
    return text if len(text) <= 80 else text[:77] + "..."


# ---- layers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Resolved:
    """A checked config and, for every key, the name of the layer its value came from."""

    config: LadderConfig
    origins: Mapping[str, str] = field(default_factory=dict)


def resolve(layers: Iterable[tuple[str, Mapping[str, Raw]]]) -> Resolved:
    """Returns the config of the given layers, weakest first.

    Args:
        layers: pairs of a layer's name (said by `config`, e.g. "flag") and its values by key.

    Raises:
        BadInput: an unknown key, a value that does not fit, or values that contradict each other.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(KEYS, "default")
    for origin, layer in layers:
        for name, raw in layer.items():
            values[name] = read_value(name, raw, "" if origin == "flag" else origin)
            origins[name] = origin
    return Resolved(LadderConfig(**values), origins)


def parse_set(assignments: Iterable[str]) -> dict[str, str]:
    """Returns the values of `--set key=value` options, the last of a key winning.

    Raises:
        BadInput: a text without `=`.
    """
    values = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--set: expected key=value, found {text!r}")
        values[name.strip()] = value
    return values


def config_path() -> Path:
    """Returns where the user's config file lies: `NETHERITE_CONFIG`, else `config.toml` in the user config folder."""
    chosen = os.environ.get("NETHERITE_CONFIG")
    return Path(chosen) if chosen else platformdirs.user_config_path("netherite-tui", appauthor=False) / "config.toml"


FILE_TABLES = ("run", "ui", "keys")


def read_config_file(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the tables of a config file: `run` holds keys of `KEYS`; `ui` and `keys` are the dashboard's.

    A file that does not exist gives empty tables.

    Raises:
        BadInput: not readable, not TOML, an unknown table, or a bad key or value in `[run]`.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        found = {}
    except RecursionError:
        raise BadInput(f"config file {path}: is nested too deeply, expected tables of plain values") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"config file {path}: {str(error).splitlines()[0]}") from None
    for name, table in found.items():
        if name not in FILE_TABLES or not isinstance(table, dict):
            tables = ", ".join(f"[{known}]" for known in FILE_TABLES)
            raise BadInput(f"config file {path}: expected only the tables {tables}, found {name!r}")
    for name, raw in found.get("run", {}).items():
        read_value(name, raw, f"config file {path}")
    return {name: found.get(name, {}) for name in FILE_TABLES}


# ---- showing --------------------------------------------------------------------------------------------------------


def value_text(config: LadderConfig, name: str) -> str:
    """Returns one value as `--set` would take it (lists of lane arguments and faults separated by spaces)."""
    value = getattr(config, name)
    match name, value:
        case "jobs", _:
            return {AUTO_JOBS: "auto", ALL_JOBS: "all"}.get(value, str(value))
        case _, None:
            return "off"
        case "seeds", _:
            return ",".join(map(str, value))
        case _, tuple():
            return " ".join(value)
        case _, float():
            return f"{value:g}"
        case _:
            return str(value)


def dump_config(config: LadderConfig) -> str:
    """Returns what `--dump-config` prints: the native's keys, then ours that differ from the default as `# `."""
    plain = LadderConfig(backend=config.backend)
    lines = [f"  {key.name:<16} = {value_text(config, key.name)}" for key in KEYS.values() if key.native]
    lines += [
        f"# {key.name:<16} = {value_text(config, key.name)}"
        for key in KEYS.values()
        if not key.native and getattr(config, key.name) != getattr(plain, key.name)
    ]
    return "\n".join(lines) + "\n"


def config_to_dict(config: LadderConfig) -> dict[str, Any]:
    """Returns the config as JSON values, e.g. for a manifest."""
    values = {one.name: getattr(config, one.name) for one in fields(config)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def config_from_dict(values: Mapping[str, Any], changes: Mapping[str, Raw] | None = None) -> LadderConfig:
    """Returns the config `config_to_dict` wrote, with newly typed settings on top.

    Raises:
        BadInput: a key or value this version does not know.
    """
    stored = {name: value for name, value in values.items() if value is not None}
    if stored.get("jobs") == AUTO_JOBS:
        del stored["jobs"]
    return resolve([("manifest", stored), ("flag", changes or {})]).config

"""The tables of a run, byte for byte as the native eval prints them for the same results (SPEC 10).

What the native cannot say stands in lines that begin with `# `, before its own: stripping them leaves its bytes. Words
it has no place for (a lost lane, a lane that did not run) appear only where a lane has no native answer.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.ladder.config import ALL_STAGES, LadderConfig
from core.ladder.events import LaneResult, Outcome
from core.ladder.gate import step_reason
from core.ladder.milestones import NAMES, TORCHES, gained, ladder_letters
from core.ladder.plan import LanePlan, Plan

Results = Mapping[int, LaneResult]


def render_report(config: LadderConfig, plan: Plan, results: Results, notes: Iterable[str] = ()) -> str:
    """Returns the whole report, ending in a newline.

    Args:
        config: the run's settings.
        plan: its lanes.
        results: what is known so far, by lane index; a lane without one is said not to have run.
        notes: further lines to print as `# ` lines, without that prefix.
    """
    extra = dict.fromkeys([*_setting_notes(config), *notes, *_lane_notes(config, plan, results)])
    lines = [f"# {note}" for note in extra]
    for stage in config.stages:
        if config.stage == ALL_STAGES:
            lines.append(f"--- stage {stage} ---")
        lines += _stage_lines(config, stage, plan.of_stage(stage), results)
    if config.stage == ALL_STAGES:
        lines += _ladder_lines(config, plan, results)
    return "\n".join(lines) + "\n"


def native_bytes(report: str) -> str:
    """Returns a report without its `# ` lines."""
    return "".join(line for line in report.splitlines(keepends=True) if not line.startswith("# "))


# ---- one stage ------------------------------------------------------------------------------------------------------


def _stage_lines(config: LadderConfig, stage: int, lanes: Sequence[LanePlan], results: Results) -> Iterator[str]:
    if config.has_magma and config.is_replay:
        yield from _replay_lines(config, lanes, results)
    yield from _head_lines(config, stage)
    standings = [SeedStanding(seed_lanes, results) for seed_lanes in _by_seed(lanes)]
    for standing in standings:
        yield standing.line(stage, config.tries)
    yield ""
    yield _total_line(stage, standings)


def _by_seed(lanes: Sequence[LanePlan]) -> list[list[LanePlan]]:
    groups: dict[int, list[LanePlan]] = {}
    for lane in lanes:
        groups.setdefault(lane.seed, []).append(lane)
    return list(groups.values())


def _replay_lines(config: LadderConfig, lanes: Sequence[LanePlan], results: Results) -> Iterator[str]:
    other = "blaze_cpu" if config.reference == "blaze" else config.reference
    yield f"replay magma --rl-bin vs {other} gated BOLR (cam/inv/pose/hotbar/coal/dead)"
    ran = [lane for lane in lanes if not lane.skip]
    for lane in ran:
        yield f"seed {lane.seed:3d} try {lane.attempt}: {_replay_word(results.get(lane.index))}"
    matches = sum(1 for lane in ran if _outcome(results, lane) == Outcome.MATCH)
    missing = _missing_text(ran, results, "({} {})")
    yield f"MATCH {matches}/{len(ran)}{missing} (step 0=t0, 1=burn-in, 2+=policy decision)"


def _replay_word(result: LaneResult | None) -> str:
    if result is None:
        return "not run"
    if result.outcome == Outcome.DIVERGE:
        return f"DIVERGE step={result.mismatch_step} {step_reason(result.mismatch_step, result.mismatch)}"
    return result.outcome.value


def _outcome(results: Results, lane: LanePlan) -> Outcome | None:
    result = results.get(lane.index)
    return None if result is None else result.outcome


def _is_lost(result: LaneResult | None) -> bool:
    return result is not None and not result.outcome.is_result


def _missing_text(lanes: Sequence[LanePlan], results: Results, form: str) -> str:
    """Returns what keeps a count from being whole, e.g. ` (1 lost) (2 not run)`; empty when nothing is missing."""
    lost = sum(_is_lost(results.get(lane.index)) for lane in lanes)
    not_run = sum(lane.index not in results for lane in lanes)
    return "".join(" " + form.format(count, word) for count, word in ((lost, "lost"), (not_run, "not run")) if count)


def _head_lines(config: LadderConfig, stage: int) -> Iterator[str]:
    yield f"net {_net_name(config)}, sampled, {config.tries} tries x {config.ep_ticks} ticks"
    yield (
        f"backend {config.backend}  rng_protocol nn_sample Gumbel rng_seed={config.seed + stage} "
        f"sample_step=decision ni=seed_index*{config.tries}+attempt"
    )
    if config.has_magma:
        program = "(embedded)" if config.backend == "voxel" else config.magma_bin
        yield f"transfer {config.transfer} magma_bin {program} camera 64x36 (oc_pixel, not window)"


def _net_name(config: LadderConfig) -> str:
    return os.path.basename(config.checkpoint) if config.policy == "net" else config.policy


class SeedStanding:
    """What one seed's tries add up to within a stage."""

    def __init__(self, lanes: Sequence[LanePlan], results: Results) -> None:
        self.lanes = lanes
        self.results = results
        first = lanes[0]
        self.seed, self.held_out, self.skip_path = first.seed, first.held_out, first.skip_path
        found = [results[lane.index] for lane in lanes if lane.index in results]
        #: milestone at the start, that of try 0 when it is known; -1 unknown
        self.base = next((result.base for result in found if result.base >= 0), -1)
        #: best milestone of all tries, whatever ended them; -1 unknown
        self.reached = max((result.reached for result in found), default=-1)

    @property
    def skip(self) -> bool:
        """Whether the seed has no snapshot at this stage."""
        return bool(self.skip_path)

    @property
    def cell(self) -> str:
        """The ladder's cell: letters of the milestones newly reached."""
        if self.skip:
            return "SKIP"
        if self.reached < 0:
            return "-"
        return ladder_letters(self.base, self.reached)

    def line(self, stage: int, tries: int) -> str:
        """The seed's line of the stage's table."""
        head = f"seed {self.seed:3d}{' HELD-OUT' if self.held_out else ''}: "
        if self.skip:
            return f"{head}SKIP missing {self.skip_path}"
        return head + self._standing(stage) + _missing_text(self.lanes, self.results, f"({{}} of {tries} tries {{}})")

    def _standing(self, stage: int) -> str:
        if self.reached < 0:
            return "no result"
        best = f"{NAMES[self.reached]} ({self.reached}/5)"
        if stage == 0:
            return f"best milestone = {best}"
        new = "".join("+T" if one == TORCHES else f"+{NAMES[one]}" for one in gained(self.base, self.reached)) or "-"
        return f"new={new} abs={best} start={NAMES[max(self.base, 0)]}"


def _total_line(stage: int, standings: Sequence[SeedStanding]) -> str:
    ran = [standing for standing in standings if not standing.skip]
    counts = Counter(standing.reached for standing in ran if standing.reached >= 0)
    names = {**dict(enumerate(NAMES)), TORCHES: "TORCH"}
    histogram = ", ".join(f"{names[reached]}:{count}" for reached, count in sorted(counts.items()))
    skipped = f" ({len(standings) - len(ran)} SKIP)" if stage else ""
    return f"full chain (torches): {counts[TORCHES]}/{len(ran)} seeds{skipped}; milestone histogram: {histogram}"


# ---- the ladder of all stages ---------------------------------------------------------------------------------------


def _ladder_lines(config: LadderConfig, plan: Plan, results: Results) -> Iterator[str]:
    yield ""
    yield "legend: L=logs3 P=pick C=cobble3 O=coal T=torch (full chain)."
    yield "        Concatenate milestones newly reached this episode (start inventory baselined out)."
    yield "        .=no new milestone. SKIP=missing snap (stg0 uses s{seed}_t0.bsnp; stgK uses s{seed}_stg{K}.bsnp)."
    yield f"        Cell is best-of-{config.tries} tries. Absolute end is not shown here; see per-stage rows."
    table = [[SeedStanding(lanes, results) for lanes in _by_seed(plan.of_stage(stage))] for stage in config.stages]
    yield f"{'seed':>5}" + "".join(f" {'stg':>6}{stage}" for stage in config.stages)
    for position, seed in enumerate(config.seeds):
        yield f"{seed:5d}" + "".join(f" {column[position].cell:>7}" for column in table)
    yield f"{'nT/n':>5}" + "".join(f" {_torches_of(column):>7}" for column in table)


def _torches_of(column: Sequence[SeedStanding]) -> str:
    ran = [standing for standing in column if not standing.skip]
    return f"{sum(standing.reached == TORCHES for standing in ran)}/{len(ran)}"


# ---- what the native cannot say -------------------------------------------------------------------------------------


def _setting_notes(config: LadderConfig) -> Iterator[str]:
    if config.backend == "voxel":
        yield "backend voxel: the embedded world plays magma's part"
    if config.is_replay and config.reference == "voxel":
        yield "reference voxel: the embedded world plays blaze's part"
    for fault in config.faults:
        yield f"FAULT INJECTED {fault}"


def _lane_notes(config: LadderConfig, plan: Plan, results: Results) -> Iterator[str]:
    several = len(config.stages) > 1
    for lane in plan.lanes:
        result = results.get(lane.index)
        if result is None:
            continue
        name = f"{f'stage {lane.stage} ' if several else ''}seed {lane.seed} try {lane.attempt}"
        if _is_lost(result):
            yield f"LOST {name}: {result.outcome.value}{f' ({result.note})' if result.note else ''}"
        if result.later_mismatches:
            fields = ", ".join(f"{field} {count}" for field, count in result.later_mismatches)
            yield f"{name}: later decisions that differ: {fields}"

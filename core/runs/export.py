"""The tables of a run in formats people paste: Markdown, CSV, JSON, one self-contained HTML file.

Every format is written from the same `Export`: one row a lane, and per stage a summary of those rows. A run may still
be going on; a lane without a result is "not run", a lost lane keeps its outcome's word, a missing snapshot is SKIP.
"""

import csv
import hashlib
import html
import io
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from core.errors import BadInput
from core.ladder.config import LadderConfig
from core.ladder.events import LaneResult, Outcome
from core.ladder.gate import step_reason
from core.ladder.milestones import NAMES, TORCHES
from core.ladder.plan import LanePlan, Plan
from core.ladder.report import SeedStanding, render_report
from core.runs.store import StoredRun
from core.wire.files import write_atomically

NOT_RUN = "not run"
_NUMBER_WORDS = (
    "No",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
)


@dataclass(frozen=True, slots=True)
class LaneRow:
    """What every format says of one lane. None is a number not known; it is written as nothing, never as 0."""

    stage: int
    seed: int
    attempt: int  #: the try, 0-based; called `try` in every format
    held_out: bool
    ni: int | None
    status: str  #: an outcome, or "not run"
    step: int | None  #: SPEC 4 step of the first gated difference
    reason: str  #: the gate's text; the missing snapshot of a SKIP
    base: str  #: milestone at the start
    reached: str  #: best milestone
    decisions: int | None
    limit: int  #: decisions of a whole episode
    ticks: int | None
    wall_s: float | None
    peak_rss_mib: float | None
    runs: int | None  #: times it was started
    note: str

    @property
    def name(self) -> str:
        """`SEED:TRY`."""
        return f"{self.seed}:{self.attempt}"

    @property
    def is_lost(self) -> bool:
        """Whether it ended without answering."""
        return self.status != NOT_RUN and not Outcome(self.status).is_result

    @property
    def cell(self) -> str:
        """Its word in a matrix."""
        if self.status == Outcome.DIVERGE:
            return f"D{self.step}"
        return self.reached if self.status == Outcome.DONE else self.status


COLUMNS = tuple("try" if one.name == "attempt" else one.name for one in fields(LaneRow))


@dataclass(frozen=True, slots=True)
class StageSummary:
    """What the lanes of one stage add up to."""

    stage: int
    tally: str  #: replay's sentence, e.g. `MATCH 56/65. Nine DIVERGE, all cam 1-5 px.`; empty when closed
    groups: tuple[tuple[tuple[int, ...], str], ...]  #: seeds that got equally far, and how far, least first
    cells: tuple[tuple[int, str], ...]  #: seed and its ladder cell: letters of the milestones newly reached
    total: str  #: e.g. `full chain (torches): 0/13; histogram t0:6, logs3:7`


@dataclass(frozen=True, slots=True)
class Export:
    """All a format has to say."""

    title: str
    protocol: Mapping[str, Any]
    provenance: Mapping[str, str]
    notes: tuple[str, ...]  #: the report's extra lines: faults, what is not bit-exact
    stages: tuple[StageSummary, ...]
    rows: tuple[LaneRow, ...]


def make_export(
    config: LadderConfig,
    plan: Plan,
    results: Mapping[int, LaneResult],
    provenance: Mapping[str, str],
    notes: Iterable[str] = (),
) -> Export:
    """Returns the export of a run as far as it has come.

    Args:
        config: the run's settings.
        plan: its lanes.
        results: what is known, by lane index.
        provenance: who ran it where and on what: label to value, in the order to be shown.
        notes: further lines of its report.
    """
    report = render_report(config, plan, results, notes)
    rows = tuple(_row(config, lane, results.get(lane.index)) for lane in plan.lanes)
    return Export(
        title=_title(config),
        protocol=_protocol(config, plan),
        provenance=dict(provenance),
        notes=tuple(
            line.removeprefix("# ")
            for line in report.splitlines()
            if line.startswith("# ") and not line.startswith("# LOST ")  # the rows tell those
        ),
        stages=tuple(_summary(config, stage, plan.of_stage(stage), rows, results) for stage in config.stages),
        rows=rows,
    )


def export_run(run: StoredRun) -> Export:
    """Returns the export of a run as its folder tells it."""
    return make_export(run.config, run.plan, run.results, provenance_of(run.manifest), run.notes)


def provenance_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Returns who ran a run where and on what, from its manifest, hashes shortened."""
    engine, config = manifest.get("engine", {}), manifest.get("config", {})
    found = {
        "run": str(manifest.get("id", "")),
        "host": str(engine.get("host", "")),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(float(manifest.get("created", 0.0)))),
        "versions": ", ".join(f"{name} {version}" for name, version in manifest.get("versions", {}).items()),
    }
    hashes: Mapping[str, str] = manifest.get("hashes", {})
    snapshots = sorted(f"{name} {value}" for name, value in hashes.items() if name.startswith("snapshot "))
    found |= {name: value[:16] for name, value in hashes.items() if not name.startswith("snapshot ")}
    if snapshots:
        combined = hashlib.sha256("\n".join(snapshots).encode()).hexdigest()
        found["snapshots"] = f"{len(snapshots)} files, {combined[:16]}"
    found["lane arguments"] = " ".join(config.get("lane_args", ())) or "none"
    found["faults"] = " ".join(config.get("faults", ())) or "none"
    return found


def _row(config: LadderConfig, lane: LanePlan, result: LaneResult | None) -> LaneRow:
    skipped = lane.skip
    ran = None if skipped else result
    return LaneRow(
        stage=lane.stage,
        seed=lane.seed,
        attempt=lane.attempt,
        held_out=lane.held_out,
        ni=None if skipped else lane.ni,
        status=Outcome.SKIP.value if skipped else NOT_RUN if result is None else result.outcome.value,
        step=ran.mismatch_step if ran and ran.mismatch_step >= 0 else None,
        reason=f"missing {lane.skip_path}" if skipped else ran.mismatch if ran else "",
        base=_milestone(ran.base) if ran else "",
        reached=_milestone(ran.reached) if ran else "",
        decisions=ran.decisions if ran else None,
        limit=config.decisions,
        ticks=ran.ticks if ran else None,
        wall_s=ran.wall_s if ran else None,
        peak_rss_mib=ran.peak_rss_mib if ran else None,
        runs=ran.runs if ran else None,
        note=result.note if result else "",
    )


def _milestone(index: int) -> str:
    return NAMES[index] if index >= 0 else ""


def _title(config: LadderConfig) -> str:
    who = Path(config.checkpoint).name if config.policy == "net" else config.policy
    against = f" against {config.reference}" if config.is_replay else ""
    return f"{who}: {config.transfer} on {config.backend}{against}"


def _protocol(config: LadderConfig, plan: Plan) -> dict[str, Any]:
    return {
        "seeds": list(config.seeds),
        "stage": config.stage,
        "tries": config.tries,
        "ticks": config.ep_ticks,
        "repeat": config.action_repeat,
        "rng_seed": config.seed,
        "ni": f"seed_index*{config.tries}+attempt",
        "n": sum(not lane.skip for lane in plan.lanes),
    }


# ---- summaries ------------------------------------------------------------------------------------------------------


def _summary(
    config: LadderConfig,
    stage: int,
    lanes: Sequence[LanePlan],
    rows: Sequence[LaneRow],
    results: Mapping[int, LaneResult],
) -> StageSummary:
    by_seed: dict[int, list[LanePlan]] = {}
    for lane in lanes:
        by_seed.setdefault(lane.seed, []).append(lane)
    standings = [SeedStanding(seed_lanes, results) for seed_lanes in by_seed.values()]
    compared = config.has_magma and config.is_replay
    tally = tally_sentence([rows[lane.index] for lane in lanes]) if compared else ""
    cells = tuple((standing.seed, standing.cell) for standing in standings)
    return StageSummary(stage, tally, _groups(standings), cells, _total(standings))


def tally_sentence(rows: Sequence[LaneRow]) -> str:
    """Returns what a replay came to, e.g. `MATCH 55/65 (1 lost). Nine DIVERGE, all cam 1-5 px.`."""
    ran = [row for row in rows if row.status != Outcome.SKIP]
    matches = sum(row.status == Outcome.MATCH for row in ran)
    missing = {"lost": sum(row.is_lost for row in ran), NOT_RUN: sum(row.status == NOT_RUN for row in ran)}
    gaps = "".join(f" ({count} {word})" for word, count in missing.items() if count)
    diverged = [row for row in ran if row.status == Outcome.DIVERGE]
    return f"MATCH {matches}/{len(ran)}{gaps}." + (f" {_divergences(diverged)}" if diverged else "")


def _divergences(diverged: Sequence[LaneRow]) -> str:
    kinds: dict[str, list[LaneRow]] = {}
    for row in diverged:
        kinds.setdefault(row.reason.replace("[", " ").partition(" ")[0], []).append(row)
    count = len(diverged)
    head = f"{_NUMBER_WORDS[count] if count < len(_NUMBER_WORDS) else count} DIVERGE"
    if len(kinds) == 1:
        ((kind, rows),) = kinds.items()
        return f"{head}, {'all ' if count > 1 else ''}{kind}{_pixels(rows)}."
    ordered = sorted(kinds.items(), key=lambda item: -len(item[1]))
    return f"{head}: {', '.join(f'{len(rows)} {kind}{_pixels(rows)}' for kind, rows in ordered)}."


def _pixels(rows: Sequence[LaneRow]) -> str:
    """Returns the range of pixel counts of camera differences (` 1-5 px`), nothing for other fields."""
    counts = [int(found[1]) for row in rows if (found := re.match(r"cam (\d+) px", row.reason))]
    if not counts:
        return ""
    low, high = min(counts), max(counts)
    return f" {low} px" if low == high else f" {low}-{high} px"


def _groups(standings: Sequence[SeedStanding]) -> tuple[tuple[tuple[int, ...], str], ...]:
    groups: dict[tuple[int, str], list[int]] = {}
    for standing in standings:
        if standing.skip:
            key = (TORCHES + 1, "SKIP")
        elif standing.reached < 0:
            key = (-1, "no result")
        else:
            key = (standing.reached, f"{NAMES[standing.reached]} ({standing.reached}/5)")
        groups.setdefault(key, []).append(standing.seed)
    return tuple((tuple(seeds), text) for (_, text), seeds in sorted(groups.items()))


def _total(standings: Sequence[SeedStanding]) -> str:
    ran = [standing for standing in standings if not standing.skip]
    counts = Counter(standing.reached for standing in ran if standing.reached >= 0)
    histogram = ", ".join(f"{NAMES[reached]}:{count}" for reached, count in sorted(counts.items()))
    skipped = len(standings) - len(ran)
    return (
        f"full chain (torches): {counts[TORCHES]}/{len(ran)}{f' ({skipped} SKIP)' if skipped else ''}; "
        f"histogram {histogram or '-'}"
    )


def _group_lines(summary: StageSummary) -> list[tuple[str, str]]:
    return [(", ".join(map(str, seeds)), text) for seeds, text in summary.groups]


def _protocol_line(export: Export) -> str:
    p = export.protocol
    return (
        f"seeds {', '.join(map(str, p['seeds']))}; stage {p['stage']}; {p['tries']} tries x {p['ticks']} ticks, "
        f"repeat {p['repeat']}; rng_seed {p['rng_seed']}{'+stage' if p['stage'] != 0 else ''}; ni {p['ni']}; n {p['n']}"
    )


def _ladder(export: Export) -> tuple[list[str], list[list[str]]]:
    """Returns header and lines of the ladder: seeds by stages."""
    header = ["seed", *(f"stg{summary.stage}" for summary in export.stages)]
    columns = [dict(summary.cells) for summary in export.stages]
    return header, [[str(seed), *(column[seed] for column in columns)] for seed in columns[0]]


def _values(row: LaneRow) -> list[Any]:
    return list(asdict(row).values())


# ---- formats --------------------------------------------------------------------------------------------------------


def to_markdown(export: Export) -> str:
    """Returns the tables as they stand in pull requests, then all lanes in a block that opens on a click."""
    blocks = [f"### {_md(export.title)}"]
    for summary in export.stages:
        if len(export.stages) > 1:
            blocks.append(f"#### stage {summary.stage}")
        blocks += _markdown_stage(export, summary)
    if len(export.stages) > 1:
        header, lines = _ladder(export)
        blocks.append(_md_table(header, "r" * len(header), lines))
    blocks.append(f"protocol: {_md(_protocol_line(export))}")
    blocks += ["\n".join(f"- {_md(note)}" for note in export.notes)] if export.notes else []
    blocks.append(_md_table(("provenance", ""), "ll", export.provenance.items()))
    lanes = [[_plain(value) for value in _values(row)] for row in export.rows]
    table = _md_table(COLUMNS, "r" * len(COLUMNS), lanes)
    blocks.append(f"<details><summary>all {len(lanes)} lanes</summary>\n\n{table}\n\n</details>")
    return "\n\n".join(blocks) + "\n"


def _markdown_stage(export: Export, summary: StageSummary) -> list[str]:
    rows = [row for row in export.rows if row.stage == summary.stage]
    blocks = []
    diverged = [row for row in rows if row.status == Outcome.DIVERGE and row.step is not None]
    if diverged:
        lines = [
            (row.seed, row.attempt, f"step {row.step}: {step_reason(row.step or 0, row.reason)}") for row in diverged
        ]
        blocks.append(_md_table(("seed", "try", "DIVERGE"), "rrl", lines))
    blocks += [_md(summary.tally)] if summary.tally else []
    lost = [f"{row.name} {row.status}{f' ({row.note})' if row.note else ''}" for row in rows if row.is_lost]
    blocks += [_md(f"Lost: {', '.join(lost)}.")] if lost else []
    blocks.append(_md_table(("seeds", "best"), "ll", _group_lines(summary)))
    blocks.append(_md(summary.total))
    return blocks


def _md_table(header: Sequence[str], alignment: str, lines: Iterable[Sequence[Any]]) -> str:
    rule = "|".join({"l": "---", "r": "---:"}[one] for one in alignment)
    body = [f"| {' | '.join(_md(str(cell)) for cell in line)} |" for line in (header, *lines)]
    return "\n".join([body[0], f"|{rule}|", *body[1:]])


def _md(text: str) -> str:
    """Returns text that Markdown shows as it is, on one line and inside a table cell."""
    escaped = "".join(f"\\{char}" if char in "\\`*|~" else char for char in " ".join(text.split()))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def _plain(value: Any) -> str:
    """Returns a value unformatted; nothing for what is not known."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def to_csv(export: Export) -> str:
    """Returns one line a lane under a line of column names; numbers unformatted, unknown ones empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_plain(value) for value in _values(row)] for row in export.rows)
    return out.getvalue()


def to_json(export: Export) -> str:
    """Returns one object: title, protocol, provenance, notes, stages and lanes."""
    return (
        json.dumps(
            {
                "format": "netherite-tui export",
                "version": 1,
                "title": export.title,
                "protocol": export.protocol,
                "provenance": export.provenance,
                "notes": export.notes,
                "stages": [
                    {
                        "stage": summary.stage,
                        "tally": summary.tally,
                        "groups": [{"seeds": seeds, "best": text} for seeds, text in summary.groups],
                        "ladder": {str(seed): cell for seed, cell in summary.cells},
                        "total": summary.total,
                    }
                    for summary in export.stages
                ],
                "lanes": [dict(zip(COLUMNS, _values(row), strict=True)) for row in export.rows],
            },
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
    )


_STYLE = """
:root{color-scheme:light dark;--line:#8885;--good:#0072b2;--bad:#d55e00;--lost:#a05000}
body{font:14px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{border:1px solid var(--line);padding:.2rem .6rem;text-align:left}
.wide{overflow-x:auto}
.match{color:var(--good);font-weight:600}
.diverge{color:var(--bad);font-weight:600}
.lost{color:var(--lost);font-style:italic}
.none{opacity:.6}
"""


def to_html(export: Export) -> str:
    """Returns one self-contained page: the matrix of each stage, summaries, provenance, all lanes."""
    parts = [f"<h1>{_h(export.title)}</h1>"]
    for summary in export.stages:
        if len(export.stages) > 1:
            parts.append(f"<h2>stage {summary.stage}</h2>")
        parts.append(_matrix([row for row in export.rows if row.stage == summary.stage]))
        parts += [f"<p>{_h(summary.tally)}</p>"] if summary.tally else []
        parts.append(_html_table(("seeds", "best"), _group_lines(summary)))
        parts.append(f"<p>{_h(summary.total)}</p>")
    if len(export.stages) > 1:
        parts += ["<h2>ladder</h2>", _html_table(*_ladder(export))]
    parts.append(f"<p>protocol: {_h(_protocol_line(export))}</p>")
    parts += [f"<ul>{''.join(f'<li>{_h(note)}</li>' for note in export.notes)}</ul>"] if export.notes else []
    parts.append(_html_table(("provenance", ""), list(export.provenance.items())))
    parts.append(_html_table(COLUMNS, [[_plain(value) for value in _values(row)] for row in export.rows], "lanes"))
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_h(export.title)}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _matrix(rows: Sequence[LaneRow]) -> str:
    tries = sorted({row.attempt for row in rows})
    by_seed: dict[int, dict[int, LaneRow]] = {}
    for row in rows:
        by_seed.setdefault(row.seed, {})[row.attempt] = row
    head = "".join(f"<th>{attempt}</th>" for attempt in tries)
    lines = [
        f"<tr><th>{seed}{' HELD-OUT' if cells[tries[0]].held_out else ''}</th>"
        + "".join(_matrix_cell(cells[attempt]) for attempt in tries)
        + "</tr>"
        for seed, cells in by_seed.items()
    ]
    return f'<table class="matrix"><tr><th>seed</th>{head}</tr>\n' + "\n".join(lines) + "</table>"


def _matrix_cell(row: LaneRow) -> str:
    kinds = {Outcome.MATCH: "match", Outcome.DIVERGE: "diverge", Outcome.SKIP: "none", NOT_RUN: "none"}
    kind = "lost" if row.is_lost else kinds.get(row.status, "done")
    detail = f"{row.name} {row.status} {row.reason or row.note}".strip()
    return f'<td class="{kind}" title="{_h(detail)}">{_h(row.cell)}</td>'


def _html_table(header: Sequence[str], lines: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{_h(cell)}</th>" for cell in header)
    body = "\n".join(f"<tr>{''.join(f'<td>{_h(cell)}</td>' for cell in line)}</tr>" for line in lines)
    table = f"<table{f' class={kind!r}' if kind else ''}><tr>{head}</tr>\n{body}</table>"
    return f'<div class="wide">{table}</div>'


def _h(text: str) -> str:
    return html.escape(" ".join(text.split()))


FORMATS: Mapping[str, Callable[[Export], str]] = {
    "md": to_markdown,
    "csv": to_csv,
    "json": to_json,
    "html": to_html,
}


def render(export: Export, format: str) -> str:
    """Returns the export in one of FORMATS.

    Raises:
        BadInput: unknown format.
    """
    if format not in FORMATS:
        raise BadInput(f"format: expected one of {', '.join(FORMATS)}, found {format!r}")
    return FORMATS[format](export)


def write_export(export: Export, format: str, path: Path) -> None:
    """Writes the export to a file, whole or not at all.

    Raises:
        BadInput: unknown format, or the file cannot be written.
    """
    write_atomically(path, [render(export, format).encode()])

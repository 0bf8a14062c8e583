"""Exports: golden bytes of each format, and the same rows in all of them whatever the outcomes."""

import csv
import html
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput
from core.ladder.config import LadderConfig, resolve
from core.ladder.events import LaneResult, Outcome
from core.ladder.milestones import NAMES
from core.ladder.plan import make_plan
from core.runs import export
from tests.paths import DATA


def config(**values: object) -> LadderConfig:
    common = {"backend": "voxel", "checkpoint": "out/ckpt_chop.bin", "seeds": "2,10,11", "tries": 3, "ep_ticks": 400}
    return resolve([("flag", common | values)]).config


def result(index: int, outcome: Outcome, **values: object) -> LaneResult:
    measured = {"base": 0, "decisions": 100, "ticks": 408, "wall_s": 1.25, "peak_rss_mib": 178.5}
    return LaneResult(index, outcome, **(measured | values))


REPLAY = [
    result(0, Outcome.MATCH, reached=1),
    result(1, Outcome.DIVERGE, reached=0, mismatch_step=38, mismatch="cam 1 px"),
    result(2, Outcome.DIVERGE, reached=2, mismatch_step=1, mismatch="cam 5 px"),
    result(3, Outcome.MATCH, reached=5),
    result(
        4, Outcome.CRASHED, base=-1, reached=-1, decisions=7, note="exit code 3: a|b <x> *y*", peak_rss_mib=None, runs=2
    ),
    result(6, Outcome.MATCH, reached=0),
]
PROVENANCE = {"run": "20261201-101500-abc", "host": "box", "checkpoint": "65605716"}


def exported(case: str) -> export.Export:
    if case == "replay":
        settings = config(transfer="replay", faults=["2:1:cam:step=38:px=1"])
        found = REPLAY
    else:
        settings = config(stage="all", tries=1)
        found = [result(0, Outcome.DONE, reached=1), result(1, Outcome.DONE, reached=0), result(2, Outcome.TIMEOUT)]
    return export.make_export(settings, make_plan(settings), {one.index: one for one in found}, PROVENANCE)


@pytest.mark.parametrize("format", export.FORMATS)
@pytest.mark.parametrize("case", ["replay", "stages"])
def test_golden_bytes(case: str, format: str) -> None:
    assert export.render(exported(case), format) == (DATA / f"export/{case}.{format}").read_text(encoding="utf-8")


def test_markdown_says_what_pull_requests_say() -> None:
    text = export.to_markdown(exported("replay"))
    assert "| 2 | 1 | step 38: cam 1 px |" in text
    assert "| 2 | 2 | step 1: burn-in cam 5 px |" in text
    assert "MATCH 3/9 (1 lost) (3 not run). Two DIVERGE, all cam 1-5 px." in text
    assert "full chain (torches): 1/3; histogram t0:1, pick:1, TORCHES:1" in text
    closed = export.to_markdown(exported("stages"))
    assert "| 10 | t0 (0/5) |" in closed
    assert "| 2, 10, 11 | SKIP |" in closed
    assert "| seed | stg0 | stg1 | stg2 | stg3 | stg4 |" in closed
    assert "| 2 | L | SKIP | SKIP | SKIP | SKIP |" in closed
    assert "Lost: 11:0 TIMEOUT." in closed


def rows_of(lines: list[tuple[str, int, str]]) -> list[export.LaneRow]:
    settings = config(transfer="replay", seeds="2", tries=len(lines))
    found = {
        i: result(i, Outcome(word), mismatch_step=step, mismatch=reason)
        for i, (word, step, reason) in enumerate(lines)
        if word
    }
    return list(export.make_export(settings, make_plan(settings), found, {}).rows)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([("MATCH", -1, "")] * 3, "MATCH 3/3."),
        ([("DIVERGE", 9, "cam 6 px")], "MATCH 0/1. One DIVERGE, cam 6 px."),
        ([("DIVERGE", 9, "cam 6 px"), ("DIVERGE", 8, "cam 6 px")], "MATCH 0/2. Two DIVERGE, all cam 6 px."),
        (
            [("DIVERGE", 9, "hotbar[0] id/count 0/0 vs 3/1")] * 2 + [("DIVERGE", 5, "cam 1 px"), ("", -1, "")],
            "MATCH 0/4 (1 not run). Three DIVERGE: 2 hotbar, 1 cam 1 px.",
        ),
        ([("DIVERGE", 2, "edge")] * 13 + [("OOM", -1, "")], "MATCH 0/14 (1 lost). 13 DIVERGE, all edge."),
    ],
)
def test_the_tally_sentence(lines: list[tuple[str, int, str]], sentence: str) -> None:
    assert export.tally_sentence(rows_of(lines)) == sentence


class Tables(HTMLParser):
    """Collects the text of the cells of the lanes table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = ("class", "lanes") in attrs if tag == "table" else self._inside
        if self._inside and tag == "tr":
            self.rows.append([])
        if self._inside and tag in ("td", "th"):
            self.rows[-1].append("")
            self._cell = True

    def handle_endtag(self, tag: str) -> None:
        self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.rows[-1][-1] += data


def read_markdown(text: str) -> list[list[str]]:
    block = text.split("<summary>all ")[1].split("\n\n")[1].splitlines()
    cells = [line[2:-2].split(" | ") for line in (block[0], *block[2:])]  # a bar in a cell follows a backslash
    return [[html.unescape(re.sub(r"\\(.)", r"\1", cell)).strip() for cell in line] for line in cells]


def read_json(text: str) -> list[list[str]]:
    lanes = json.loads(text)["lanes"]
    return [list(lanes[0])] + [[export._plain(value) for value in lane.values()] for lane in lanes]


def read_html(text: str) -> list[list[str]]:
    tables = Tables()
    tables.feed(text)
    return tables.rows


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)
LANES = st.none() | st.builds(
    lambda outcome, step, reason, reached, note, rss: (outcome, step, reason, reached, note, rss),
    st.sampled_from(Outcome),
    st.integers(-1, 1501),
    st.sampled_from(["", "cam 3 px", "dead 0 vs 1", "hotbar[2] id/count 0/0 vs 5/1"]) | WORDS,
    st.integers(-1, 5),
    WORDS,
    st.none() | st.floats(1, 1e4),
)


@settings(max_examples=60)
@given(st.lists(LANES, min_size=1, max_size=16), st.booleans())
def test_every_format_holds_the_same_rows(lanes: list[tuple | None], replay: bool) -> None:
    settings = config(transfer="replay" if replay else "closed", seeds="2", tries=len(lanes))
    found = {
        i: result(
            i, lane[0], mismatch_step=lane[1], mismatch=lane[2], reached=lane[3], note=lane[4], peak_rss_mib=lane[5]
        )
        for i, lane in enumerate(lanes)
        if lane is not None
    }
    whole = export.make_export(settings, make_plan(settings), found, PROVENANCE)
    expected = list(csv.reader(io.StringIO(export.to_csv(whole))))
    assert len(expected) == 1 + len(lanes)
    assert read_json(export.to_json(whole)) == expected
    assert read_html(export.to_html(whole)) == expected
    assert read_markdown(export.to_markdown(whole)) == expected
    for row, lane in zip(whole.rows, lanes, strict=True):
        assert row.status == ("not run" if lane is None else lane[0].value)
        assert row.reached == (NAMES[lane[3]] if lane and lane[3] >= 0 else "")


def test_a_file_is_written_whole_and_a_bad_one_named(tmp_path: Path) -> None:
    whole = exported("replay")
    export.write_export(whole, "csv", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == export.to_csv(whole)
    with pytest.raises(BadInput, match=r"none/a.csv: cannot be written: No such file"):
        export.write_export(whole, "csv", tmp_path / "none/a.csv")
    with pytest.raises(BadInput, match="format: expected one of md, csv, json, html, found 'pdf'"):
        export.render(whole, "pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]

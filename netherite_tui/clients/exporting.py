"""A run as the text of an export format."""

from collections.abc import Mapping
from pathlib import Path

from core.ladder.events import LaneResult


def export_text(folder: Path, results: Mapping[int, LaneResult], format: str) -> str:
    """Returns the run in `folder` with the given results in an export format.

    Raises:
        BadInput: unknown format, or the folder's manifest cannot be read.
    """
    from core.ladder.config import config_from_dict
    from core.runs import export, store

    manifest = store.read_manifest(folder)
    config, plan = config_from_dict(manifest["config"]), store.plan_from_list(manifest["lanes"])
    made = export.make_export(config, plan, results, export.provenance_of(manifest), manifest["notes"])
    return export.render(made, format)

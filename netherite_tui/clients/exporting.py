"""A run as the text of an export format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    made = export.make_export(config, plan, results, provenance_labels(manifest), manifest["notes"])
    return export.render(made, format)


def provenance_labels(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Returns who ran it where and on what: label to value, in the order to be shown."""
    labels = {"run": str(manifest["id"]), "host": str(manifest.get("engine", {}).get("host", ""))}
    labels |= {name: str(version) for name, version in manifest["versions"].items()}
    labels |= {name.replace("_", " "): str(value)[:12] for name, value in manifest["hashes"].items()}
    config = manifest["config"]
    for name in ("lane_args", "faults"):
        if config.get(name):
            labels[name.replace("_", " ")] = " ".join(config[name])
    return labels

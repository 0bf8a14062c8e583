"""What a run's config and folder say of it, in the words of the screens."""

import os
from collections.abc import Mapping
from typing import Any

from core.ladder.config import LadderConfig
from netherite_tui.client import RunFacts


def facts_of(run_id: str, config: LadderConfig, *, host: str, jobs: int) -> RunFacts:
    """Returns the facts of a run.

    Args:
        run_id: its id.
        config: its settings.
        host: where it runs or ran.
        jobs: lanes at a time as resolved; the config may say "as many as fit".
    """
    return RunFacts(
        run_id=run_id,
        checkpoint=os.path.basename(config.checkpoint) if config.policy == "net" else "",
        policy=config.policy,
        backend=config.backend,
        transfer=config.transfer,
        reference=config.reference,
        stage=str(config.stage),
        jobs=jobs,
        tries=config.tries,
        repeat=config.action_repeat,
        host=host,
        faults=bool(config.faults),
    )


def lanes_at_once(config: LadderConfig, lanes: int) -> int:
    """Returns how many lanes may run at a time as far as the settings alone tell."""
    from core.ladder.admission import slots_for

    return min(slots_for(config.jobs), lanes)


def host_of(manifest: Mapping[str, Any]) -> str:
    """Returns the host a manifest names."""
    return str(manifest.get("engine", {}).get("host", ""))


def budget_mib(held_mib: float = 0.0) -> float:
    """Returns how much memory lanes of this host may take together, as admission reckons it, MiB.

    Args:
        held_mib: what they hold already.
    """
    from core.host import memory

    available = memory.available_bytes()
    return held_mib + (available - memory.reserve_bytes(available)) / memory.MIB

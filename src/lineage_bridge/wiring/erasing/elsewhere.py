"""Names what an erasure cannot reach, because it lies outside of the data folder."""

from lineage_bridge.config import Settings
from lineage_bridge.wiring.backup import is_elsewhere


def outside_of_the_folder(settings: Settings) -> list[str]:
    """The copies that an operator must let expire, or erase with the other system's own tools."""
    found = [
        "backups of the data folder that were made before: let them expire, and repeat the erasure after restoring one",
        "copies that users made with export, replay --to and log restore, and what was published to targets",
        "free space of the file system, and its snapshots",
    ]
    if settings.intake:
        found.append(f"the topic of the input {settings.intake}: records that were received before stay in it until they expire")
    if is_elsewhere(settings):
        found.append("PostgreSQL: its backups, archived write-ahead logs and replicas")
    return found

"""Results in a file, so that some rows can be measured anew and the others stay."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bench.measure import Record


class Results(msgspec.Struct, frozen=True):
    """All rows, and the machine they were measured on."""

    records: tuple[Record, ...] = ()
    machine: Mapping[str, str] = {}

    @property
    def versions(self) -> dict[str, str]:
        """Each tool's version; where fleets were measured with several, each with its fleets."""
        found: dict[str, dict[str, list[str]]] = {}
        for one in self.records:
            fleets = found.setdefault(one.tool, {}).setdefault(one.version, [])
            fleets += [one.fleet] if one.fleet not in fleets else []
        return {tool: _told(versions) for tool, versions in found.items() if any(versions)}


def _told(versions: Mapping[str, list[str]]) -> str:
    if len(versions) == 1:
        return next(iter(versions))
    return "; ".join(f"{version or 'unknown'} ({', '.join(fleets)})" for version, fleets in versions.items())


def read(path: Path) -> Results:
    """What is kept; nothing if there is no such file. ValueError: it is no file of results."""
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def keep(records: Sequence[Record], machine: Mapping[str, str], path: Path) -> Results:
    """Put new rows in the place of those of the same tools and fleets, in the file as it is now."""
    measured = {(one.fleet, one.tool) for one in records}
    others = [one for one in read(path).records if (one.fleet, one.tool) not in measured]
    merged = Results((*others, *records), machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(merged), indent=1) + b"\n")
    return merged

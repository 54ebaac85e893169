"""Results in a file, so that some rows can be measured anew and the others stay."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bench.measure import Record
from bench.report.table import Table


class Results(msgspec.Struct, frozen=True):
    """All rows, and the machine they were measured on.

    `agents` is the server under load, by that version, `deploys` are deploys over SSH,
    `rules` is what rules across nodes cost, and how their choices are made.
    """

    records: tuple[Record, ...] = ()
    machine: Mapping[str, str] = {}
    agents: tuple[Table, ...] = ()
    agents_version: str = ""
    deploys: tuple[Table, ...] = ()
    deploys_version: str = ""
    rules: tuple[Table, ...] = ()
    rules_version: str = ""

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
    kept = read(path)
    return _written(replace(kept, records=(*others, *records), machine=machine), path)


def keep_agents(agents: Sequence[Table], version: str, machine: Mapping[str, str], path: Path) -> Results:
    """Put new figures of the server under load in the place of those in the file."""
    return _written(replace(read(path), machine=machine, agents=tuple(agents), agents_version=version), path)


def keep_deploys(deploys: Sequence[Table], version: str, machine: Mapping[str, str], path: Path) -> Results:
    """Put new figures of deploys in the place of those in the file."""
    kept = replace(read(path), machine=machine, deploys=tuple(deploys), deploys_version=version)
    return _written(kept, path)


def keep_rules(rules: Sequence[Table], version: str, machine: Mapping[str, str], path: Path) -> Results:
    """Put new figures of rules in the place of those in the file."""
    return _written(replace(read(path), machine=machine, rules=tuple(rules), rules_version=version), path)


def _written(results: Results, path: Path) -> Results:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    return results

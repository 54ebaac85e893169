"""RESULTS.md: machine, versions, fleets, and the tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec

from bench.fleet import FLEETS, Options, draw, params
from bench.fleet.evaluate import layers
from bench.report.goals import goals
from bench.report.kept import Results
from bench.report.table import Table, tables

_METHOD = """\
Made by `make bench` (`python -m bench --help`). One fleet, drawn from a seed, is written in each tool's own
format. Each row is a whole process, timed from outside: start, reading all files, all nodes computed, one
JSON document with every node written. CPU is the kernel's account of the process and its children, memory
that of its largest process. Rows take turns; figures are medians of so many runs; what takes long runs once.
The machine also did other work, so wall times are upper bounds: **compare by CPU**. `x yardstick` is CPU
divided by that of the yardstick in the same session.

The yardstick is a plain Python program that reads gitcfg's own files, each once, with libyaml, merges
dictionaries with `dict.update` and prints JSON. Neither it nor the peers check anything; gitcfg does, on
the way. Each answer is compared with a reference evaluator: `200/200 of 1000` are 200 right of 200
compared nodes (as JSON, all parameters), 1000 in the answer. The peers' files hold features, groups and
nodes alone; gitcfg's and the yardstick's declarations of parameters and facts of nodes, too. gitcfg
reads git objects at a commit, the others files. The fleets avoid what the tools order
differently: see `bench/fleet/features.py`.

`cold`: no cache of gitcfg's. `warm`: the same command ran before. `one group changed`: five parameters of
one group have other values; gitcfg has checked the commit before, and knows nothing of the new one. Peers
keep nothing between runs. Floors: one kind of work alone, timed within the program.
"""

_AGENTS = """\
## The server under load

Made by `python -m bench.agents`, gitcfg {version}: simulated agents, each with a key and a connection of its
own, against one `gitcfg serve` on loopback, whose repository is the fleet *large* with so many nodes. Agents
share the machine's cores with it. Each agent checks in once an interval and long-polls in between, as
`gitcfg agent` does; requests are signed, and one answer of twenty is verified. PostgreSQL runs beside it
without fsync. `bare` is aiohttp with one handler that verifies a check-in's signature, signs an answer of
the same size, and keeps nothing. A commit for every node is one without stages: seconds from the moment when
the branch points to it, which begin with the server's check of the whole fleet. A long-poll that ends
without news counts only with what it took beyond its wait.
"""

_DEPLOYS = """\
## Deploys over SSH

Made by `python -m bench.deploy`, gitcfg {version}. Each host is an address of loopback with a folder of its
own behind a real sshd, and gets one file of 4 KiB and a command (`/bin/true`); 20 hosts at once, host keys
checked, and the file looked at after each run. Ways take turns; all agree on keys by curve25519. CPU is that
of the desk alone, with all processes that a tool starts or leaves behind (ansible's connections); hosts share
the machine with it, so wall times say how busy both were. MiB are of the largest process. `fabric, one
command` is the least that can be asked of a connection with the same library that gitcfg uses: connect,
one command, the file in its input. gitcfg renders, looks at what stands, installs with journal, check and
way back, and records it; nobody else does any of that.
"""

_RULES = """\
## Rules across nodes

Made by `python -m bench.rules`, gitcfg {version}. Rows of the same problem take turns; figures are medians.
`alone`: the problem as data, solved within one process, with what a solver imports and builds for it. CP-SAT
(one worker) and clingo (minimising by unsatisfiable cores) get the whole problem at once and find any answer
with as few changes of what stood, gitcfg the first of these. `answer`: spots that are placed, or slots with a
value, and changes; of each it is looked whether all holds. Placements: two of each of 30 features in each
rack of 50 nodes, at most four a node. Addresses: those of the case study of PoDIM, 600 machines in 20
subnets. The others are whole processes of gitcfg on a work tree, without a cache (one machine more: after the
solve before). Many rules: as many as the large fleets have nodes, no two of which ask the same, on a single
rack. What is over a fleet without rules is taken in the same turns.
"""

_SHOWN = ("nodes", "groups", "features", "parameters", "memberships", "include_depth", "identity", "depends")
_SOME = 200


def document(results: Results, date: str) -> str:
    """The whole page."""
    parts = ["# Results\n", f"Measured {date}.\n" if date else "", _METHOD, "## Machine and versions\n"]
    parts.append(_listed([*results.machine.items(), *results.versions.items()]))
    parts += ["## Fleets\n", _markdown(_fleets(results))]
    for table in (goals(results.records), *tables(results.records)):
        parts += [f"## {table.title}\n", _markdown(table)]
    parts += [of_agents(results, ""), of_deploys(results, ""), of_rules(results, "")]
    return "\n".join(part for part in parts if part)


def of_agents(results: Results, date: str) -> str:
    """The section on the server under load; nothing if that was not measured."""
    return _section(_AGENTS, results.agents, results.agents_version, date)


def of_deploys(results: Results, date: str) -> str:
    """The section on deploys over SSH; nothing if they were not measured."""
    return _section(_DEPLOYS, results.deploys, results.deploys_version, date)


def of_rules(results: Results, date: str) -> str:
    """The section on rules across nodes; nothing if they were not measured."""
    return _section(_RULES, results.rules, results.rules_version, date)


def put(made: str, place: Path) -> None:
    """Put sections into a page of results: what else stands there stays."""
    page = place.read_text(encoding="utf-8") if place.exists() else ""
    place.write_text(with_sections(page, made), encoding="utf-8")


def with_sections(page: str, made: str) -> str:
    """A page with sections that were made anew in the place of those of the same title, or at its end."""
    anew = {_title(part): part for part in _parted(made) if _title(part)}
    known = [anew.pop(_title(part), part) for part in _parted(page)]
    return "\n".join(part.strip("\n") + "\n" for part in (*known, *anew.values()) if part)


def _parted(page: str) -> list[str]:
    """What stands before the first title of a section, and each section."""
    return re.split(r"^(?=## )", page, flags=re.MULTILINE)


def _title(part: str) -> str:
    return part.partition("\n")[0] if part.startswith("## ") else ""


def _section(method: str, tables: Sequence[Table], version: str, date: str) -> str:
    if not tables:
        return ""
    made = f"{version or 'of unknown version'}{f', on {date}' if date else ''}"
    return "\n".join((method.format(version=made), *_sections(tables)))


def _sections(tables: Iterable[Table]) -> list[str]:
    return [part for table in tables for part in (f"### {table.title}\n", _markdown(table))]


def _fleets(results: Results) -> Table:
    known = {one.fleet for one in results.records}
    rows = tuple((name, *_size(options)) for name, options in FLEETS.items() if name in known)
    return Table("", ("fleet", *_SHOWN, "node sets", "parameters a node", "layers a node"), rows)


def _size(options: Options) -> Iterator[str]:
    """The fleet in figures, the last two as medians of some nodes."""
    yield from (str(getattr(options, name)) for name in _SHOWN)
    yield f"{options.sets} of {options.set_size}" if options.sets else "-"
    fleet = draw(msgspec.structs.replace(options, nodes=min(options.nodes or _SOME, _SOME), sets=0))
    nodes = fleet.nodes.values()
    yield f"{median(len(params(fleet, node)) for node in nodes):.0f}"
    yield f"{median(len(list(layers(fleet, node))) for node in nodes):.0f}"


def _listed(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"- {name}: {value}\n" for name, value in pairs)


def _markdown(table: Table) -> str:
    return "".join(_lines(table))


def _lines(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.head)} |\n"
    yield "|" + " --- |" * len(table.head) + "\n"
    for row in table.rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n"

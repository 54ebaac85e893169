"""Random versions of a random repository, one edited from the other: what may be, and what is wrong."""

from random import Random

from msgspec.structs import replace

from gitcfg.generate.repository import MISTAKES, repository
from tests.comparison.test_concerned import edited as reduced
from tests.compile.fleets import mixed
from tests.history.histories import Version
from tests.load.keeping import edited as disturbed

Files = dict[str, str]

SETTINGS = (
    "format: 1\n",
    "format: 1\nundeclared: warning\n",
    "format: 1\nundeclared: allow\n",
    "format: 1\nmax_nodes: 12\n",
    "format: 1\ndefault_group: group001\n",
)
TEMPLATES = (
    "{{ node.name }} {{ groups }}\n",
    "{{ features }}\n",
    "{% for name in params %}{{ name }} {% endfor %}\n",
    "{% include 'u.j2' %}\n",
    "{{ 1 // 0 }}\n",
    "{% broken\n",
)
ENTRIES = (
    "files: {/etc/t: {template: t.j2}}\n",
    "files: {/etc/t: {template: t.j2, mode: '0600'}, /etc/s: {source: s}}\n",
    "files: {/etc/s: {text: plain}}\n",
    "files: {/etc/t: null}\n",
)
SELECTING = (
    "node.name.startsWith('node00001.')",
    "'ENTRIES' in node.features",
    "broken (",
)


def first(seed: int) -> Files:
    """A repository with templates, and perhaps some mistakes."""
    rng = Random(f"first {seed}")
    planted = tuple(rng.sample(sorted(MISTAKES), rng.choice((0, 0, 1, 2))))
    files = dict(repository(replace(mixed(seed), mistakes=planted, conflicts=2)))
    files["features/ENTRIES.yaml"] = rng.choice(ENTRIES)
    files["templates/t.j2"] = rng.choice(TEMPLATES)
    files["templates/u.j2"] = "u\n"
    files["files/s"] = "s\n"
    files["nodes/own.example.org.yaml"] = "features: [ENTRIES]\n"
    if rng.random() < 0.3:
        _select(files, rng)
    return files


def next_of(known: list[Files], rng: Random) -> Files:
    """A version edited, mostly the last one, or an older one again; sound ones come back."""
    files = dict(rng.choice((known[-1], known[-1], known[0], rng.choice(known))))
    choice = rng.randrange(10)
    if choice < 4:
        return reduced(files, rng)
    if choice < 5:
        return disturbed(files, rng.randrange(1 << 30))
    if choice == 5:
        return dict(rng.choice(known))
    if choice == 6:
        files["gitcfg.yaml"] = rng.choice(SETTINGS)
    elif choice == 7:
        files["features/ENTRIES.yaml"] = rng.choice(ENTRIES)
        files["templates/t.j2"] = rng.choice(TEMPLATES)
    else:
        _regroup(files, rng)
    return files


def versions(seed: int, count: int) -> list[Version]:
    """So many versions, one after another."""
    rng = Random(f"versions {seed}")
    found = [first(seed)]
    while len(found) < count:
        found.append(next_of(found, rng))
    return [Version([number - 1] if number else [], files) for number, files in enumerate(found)]


def _select(files: Files, rng: Random) -> None:
    """An override of nodes for which a condition holds."""
    said = f'where: "{rng.choice(SELECTING)}"\nreason: r\nuntil: 2999-12-31\nfeatures: [ENTRIES]\n'
    files["overrides/selecting.yaml"] = said


def _regroup(files: Files, rng: Random) -> None:
    """A node that is in another group than before, is gone, or is new."""
    nodes = [path for path in sorted(files) if path.startswith("nodes/")]
    groups = [path[7:-5] for path in sorted(files) if path.startswith("groups/")]
    path = rng.choice([*nodes, "nodes/new.example.org.yaml"])
    if rng.random() < 0.3:
        files.pop(path, None)
    else:
        files[path] = f"groups: [{', '.join(rng.sample(groups, min(2, len(groups))))}]\n"

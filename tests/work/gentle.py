"""Random small changes of sound repositories, after which a check looks only at what they concern."""

from random import Random

from msgspec.structs import replace

from gitcfg.generate.options import Options, Types
from gitcfg.generate.repository import repository
from tests.compile.fleets import mixed
from tests.history.histories import Version

Files = dict[str, str]
EXTRAS = {
    "parameters/families.yaml": ("parameters: {'FAM_*': {type: integer, description: d}}\n",),
    "features/INSTANCED.yaml": (
        "params: {'FAM_${as}': '${with.n}'}\n",
        "description: none\nparams: {'FAM_${as}': '${with.m}', FAM_all: 1}\n",
    ),
    "features/FIRST.yaml": ("depends: [SECOND]\n", "{}\n", "conflicts: [THIRD]\nparams: {FAM_b: 2}\n"),
    "features/SECOND.yaml": ("depends: [THIRD]\n", "{}\n", "include: [THIRD]\n"),
    "features/THIRD.yaml": ("params: {FAM_one: 1}\n", "params: {FAM_one: x}\n", "{}\n"),
    "groups/extra.yaml": (
        "params: {FAM_Two: 1}\n",
        "features: [THIRD]\n",
        "{}\n",
        "params: {FAM_one: {a: b}}\n",
    ),
    "nodes/e1.example.org.yaml": (
        "features: [{feature: INSTANCED, as: a, with: {n: 1}}]\n",
        "features: [{feature: INSTANCED, as: a, with: {n: text}}]\ngroups: [extra]\n",
        "features: [FIRST]\n",
        "{}\n",
    ),
    "nodes/e2.example.org.yaml": (
        "features: [{feature: INSTANCED, as: b, with: {m: 1}}, SECOND]\n",
        "groups: [extra]\nparams: {FAM_two: 2}\n",
        "params: {FAM_one: 2}\nfeatures: [THIRD]\n",
        "{}\n",
    ),
    "nodesets/extra.yaml": (
        "nodes: s[1-3]\nfeatures: [{feature: INSTANCED, as: c}]\nparams: {FAM_one: {$append: x}}\n",
    ),
}
"""What generated repositories have not: instances that only nodes have, names that are nearly others, ..."""
KINDS = ("groups", "groups", "features", "nodes", "nodes", "subsystems", "nodesets")
VALUES = (
    "1",
    "true",
    '"x"',
    "[a, b]",
    "{a: 1}",
    "null",
    "{$unset: true}",
    "{$append: [c]}",
    "{$remove: [a]}",
)


def shape(seed: int) -> Options:
    """Many groups, so that a change concerns few nodes; each operation meets every other."""
    rng = Random(f"gentle {seed}")
    types = Types() if rng.random() < 0.2 else Types(any=0)
    return replace(
        mixed(seed),
        nodes=rng.randrange(30, 70),
        groups=rng.choice((12, 16, 20)),
        memberships=2,
        conflicts=rng.randrange(3),
        depends=4,
        identity=0.5,
        sets=rng.choice((0, 0.3)),
        overrides=rng.choice((0, 0, 2)),
        instances=rng.choice((0, 0.1)),
        files=rng.randrange(3),
        types=types,
    )


def versions(seed: int, count: int) -> list[Version]:
    """So many versions, each some small changes away from one before."""
    rng = Random(f"gentle versions {seed}")
    found = [dict(repository(shape(seed))) | {path: rng.choice(texts) for path, texts in EXTRAS.items()}]
    if rng.random() < 0.5:
        del found[0]["nodesets/extra.yaml"]
    while len(found) < count:
        files = dict(rng.choice((found[-1], found[-1], found[0])))
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            change(files, rng)
        found.append(files)
    return [Version([number - 1] if number else [], files) for number, files in enumerate(found)]


def change(files: Files, rng: Random) -> None:
    """One small change."""
    if rng.random() < 0.3:
        path = rng.choice(sorted(EXTRAS.keys() & files.keys()))
        files[path] = rng.choice(EXTRAS[path])
        return
    kind = rng.choice(KINDS)
    paths = [path for path in sorted(files) if path.startswith(kind + "/") and path != "groups/default.yaml"]
    if not paths:
        return
    path = rng.choice(paths)
    lines = files[path].splitlines(keepends=True)
    bound = [place for place, line in enumerate(lines) if line.startswith('  "')]
    what = rng.randrange(10)
    if what < 3 and len(bound) > 1:
        lines.pop(rng.choice(bound))
    elif what < 6 and bound:
        place = rng.choice(bound)
        name = lines[place].partition(":")[0]
        lines[place] = (
            f"{name}: {rng.choice((*VALUES, lines[rng.choice(bound)].partition(': ')[2].strip()))}\n"
        )
    elif what == 6 and kind == "nodes":
        del files[path]
        return
    elif what == 7 and kind == "nodes":
        lines = _moved(files, lines, rng)
    elif what == 8:
        lines = _with_another_list(files, lines, rng)
    else:
        lines.append("# seen\n")
    files[path] = "".join(lines)


def _names(files: Files, kind: str) -> list[str]:
    return [path.rpartition("/")[2][:-5] for path in sorted(files) if path.startswith(kind + "/")]


def _moved(files: Files, lines: list[str], rng: Random) -> list[str]:
    """The node in other groups."""
    groups = rng.sample(_names(files, "groups"), 2)
    rest = [line for line in lines if not line.startswith("groups:")]
    return [f"groups: [{', '.join(groups)}]\n", *rest]


def _with_another_list(files: Files, lines: list[str], rng: Random) -> list[str]:
    """Another feature than before is included, listed, needed, or done without."""
    feature = rng.choice(_names(files, "features"))
    for place, line in enumerate(lines):
        key = line.partition(":")[0]
        if key in ("include", "features", "depends", "conflicts", "without") and rng.random() < 0.5:
            lines[place] = f"{key}: [{feature}]\n"
            return lines
    return lines

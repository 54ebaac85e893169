"""Random histories of small repositories: edits, moves, breakage, reverts, branches and merges."""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import Files, wild

ENTRIES = (
    "/etc/a: {format: json, params: ['*']}",
    "/etc/a: {format: condor, params: ['STR', 'LI*']}",
    "/etc/a: {format: yaml, params: {tags: [t]}}",
    "/etc/b: {template: t.j2}",
    "/etc/b: {template: t.j2, mode: '0600'}",
    "/etc/b: null",
    "/etc/c: {text: one}",
    "/etc/c: {source: s}",
)
Extras = Mapping[str, Sequence[str]]
"""Texts that a file may have, by its path."""

EXTRAS: Extras = {
    "gitcfg.yaml": ("format: 1\n", "format: 1\ndefault_group: G\n", "format: 2\n", "{broken", "format: 1\n"),
    "features/T.yaml": tuple(f"files: {{{entry}}}\n" for entry in ENTRIES),
    "groups/G.yaml": tuple(f"features: [T, A]\nfiles: {{{entry}}}\n" for entry in ENTRIES),
    "groups/H.yaml": (
        "features: [A, T]\nparams: {STR: {$secret: t}}\n",
        "features: [A, T]\n",
        "features: [B]\nparams: {STR: x, UND: {$append: x}}\n",
    ),
    "templates/t.j2": (
        "{{ params.STR }}",
        "{{ node.name }} {{ node.labels }} {{ node.facts }}",
        "{% for p in params %}{{ p }} {% endfor %}",
        "{% include 'u.j2' %}",
        "{{ features }}",
        "{% broken",
    ),
    "templates/u.j2": ("u", "{{ params.get('STR') }}", "{% include ['gone.j2', 't2.j2'] ignore missing %}"),
    "templates/t2.j2": ("one", "two"),
    "files/s": ("one", "two"),
    "nodes/n3.yaml": (
        "groups: [G]\nlabels: [x]\nfacts: {INT: 7}\n",
        "groups: [H, G]\nfeatures: [T]\n",
        "state: retired\ngroups: [G]\n",
        "params: {UND: a, STR: {$fact: INT}}\n",
        "params: {STR: {$secret: t}, UND: {$append: x}}\n",
    ),
    "nodesets/R.yaml": (
        "nodes: s[2-3]\ngroups: [H]\n",
        'nodes: "N2,n2,s1"\nparams: {STR: r}\n',
        "nodes: n[3-5]\n",
    ),
    "nodesets/a/R.yaml": ("nodes: s[1-4]\ngroups: [G]\n", "nodes: n[2-3]\nfeatures: [T]\n"),
    "overrides/w.yaml": tuple(
        f"where: {where}\nreason: r\nuntil: 2999-12-31\nparams: {{STR: w}}\nfeatures: [T]\n"
        for where in (
            "'\"x\" in node.labels'",
            "'node.name == \"n1\"'",
            "'\"A\" in node.features'",
            "'node.facts.INT > 3'",
            "'\"G\" in node.groups'",
            "'broken ('",
        )
    ),
    "parameters/q.yaml": (
        "parameters: {UND: {type: list, tags: [t]}}\n",
        "parameters: {STR: {type: list, separator: comma}, 'U*': {type: string, description: d}}\n",
        "parameters: {INT: {default: 9, type: integer, tags: [t]}}\n",
    ),
    "secrets/t.yaml": (
        "for: 'true'\nversion: 5\n",
        "for: 'false'\nversion: 5\nrecipients: [age1x]\n",
        "for: 'true'\nversion: 6\n",
        "{broken",
    ),
    "secrets/a/t.yaml": ("for: 'true'\nversion: 9\n",),
    "parameters/a/first.yaml": ("parameters: {STR: {type: string, default: d, tags: [t]}}\n",),
}
"""What repositories of tests/properties have not, or not so."""


class Version:
    """A commit to be: its parents by number, and its files."""

    def __init__(self, parents: Sequence[int], files: Files) -> None:
        self.parents = tuple(parents)
        self.files = files


@st.composite
def histories(draw: DrawFn, least: int = 8, most: int = 24, extras: Extras = EXTRAS) -> list[Version]:
    """A history whose commits mix the files of some random repositories."""
    worlds = draw(st.lists(wild(), min_size=2, max_size=3))
    rng = Random(draw(st.integers(0, 1 << 30)))
    return history(worlds, rng, rng.randint(least, most), extras)


def history(worlds: Sequence[Files], rng: Random, length: int, extras: Extras = EXTRAS) -> list[Version]:
    """Versions, parents before children; the last one is the tip."""
    versions = [Version([], {**worlds[0], **some(rng, extras)})]
    while len(versions) < length:
        parent = rng.choice([len(versions) - 1] * 4 + [rng.randrange(len(versions))])
        other = rng.randrange(len(versions))
        if other != parent and rng.random() < 0.3:
            versions.append(Version([parent, other], merged(versions[parent], versions[other], rng)))
        else:
            files = dict(versions[parent].files)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                edit(files, worlds, versions, rng, extras)
            versions.append(Version([parent], files))
    heads = set(range(length - 1)) - {parent for version in versions for parent in version.parents}
    if heads:
        versions.append(Version([length - 1, *heads], versions[-1].files))
    return versions


def some(rng: Random, extras: Extras) -> Files:
    """A third of the extras."""
    return {path: rng.choice(texts) for path, texts in extras.items() if not rng.randrange(3)}


def merged(ours: Version, theirs: Version, rng: Random) -> Files:
    """What a merge gives: one side, or some of both."""
    choice = rng.randrange(4)
    if choice < 2:
        return dict((ours, theirs)[choice].files)
    found = {}
    for path in ours.files.keys() | theirs.files.keys():
        text = rng.choice((ours, theirs)).files.get(path)
        if text is not None:
            found[path] = text
    return found


def edit(
    files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random, extras: Extras
) -> None:
    """One change of a repository's files."""
    chosen = rng.choice((replace, replace, replace, None, None, None, disturb, move, remove, revert))
    if chosen is None:
        extra(files, extras, rng)
    else:
        chosen(files, worlds, versions, rng)


def replace(files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random) -> None:
    """A file as another world has it."""
    world = rng.choice(worlds)
    path = rng.choice(sorted(world))
    files[path] = world[path]


def extra(files: Files, extras: Extras, rng: Random) -> None:
    """One of the extras, or none."""
    path = rng.choice(sorted(extras))
    if rng.randrange(5) or path not in files:
        files[path] = rng.choice(extras[path])
    else:
        del files[path]


def disturb(files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random) -> None:
    """Text that means the same, or nothing any more."""
    if files:
        path = rng.choice(sorted(files))
        text = files[path]
        lines = text.splitlines(keepends=True)
        rng.shuffle(lines)
        files[path] = rng.choice((f"# remark\n{text}", "".join(lines), f"{text}\n{{", f"{text}# end\n"))


def move(files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random) -> None:
    """A file to another folder of its kind, or a copy there."""
    paths = [path for path in sorted(files) if "/" in path]
    if paths:
        path = rng.choice(paths)
        folder, _, name = path.partition("/")
        target = f"{folder}/{rng.choice(('a', 'z/y'))}/{name.rpartition('/')[2]}"
        files[target] = files[path] if rng.randrange(3) else files.pop(path)
        if rng.randrange(2) and target != path:
            files.pop(path, None)


def remove(files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random) -> None:
    """A file less."""
    if files:
        del files[rng.choice(sorted(files))]


def revert(files: Files, worlds: Sequence[Files], versions: Sequence[Version], rng: Random) -> None:
    """Everything as it was some time ago."""
    old = dict(rng.choice(versions).files)
    files.clear()
    files.update(old)


def imported(folder: Path, versions: Sequence[Version], prefix: str = "") -> list[str]:
    """A bare repository with these commits on main, one a minute; their ids in order."""
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(folder)], check=True)
    marks = folder / "marks"
    command = ["git", "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(command, cwd=folder, input="".join(stream(versions, prefix)).encode(), check=True)
    ids = dict(line.split() for line in marks.read_text().splitlines())
    return [ids[f":{number + 1}"] for number in range(len(versions))]


def stream(versions: Sequence[Version], prefix: str) -> Iterator[str]:
    """What `git fast-import` reads."""
    for number, version in enumerate(versions):
        when = f"{1_700_000_000 + number * 60} +0100"
        yield f"commit refs/heads/main\nmark :{number + 1}\n"
        yield f"author Ann <ann@example.org> {when}\ncommitter Bob <bob@example.org> {when}\n"
        yield data(f"commit {number}\n")
        words = ("from", *["merge"] * len(version.parents))
        yield from (f"{word} :{parent + 1}\n" for word, parent in zip(words, version.parents, strict=False))
        yield "deleteall\n"
        for path, text in sorted(version.files.items()):
            yield f"M 100644 inline {prefix}{path}\n{data(text)}"
        yield "\n"


def data(text: str) -> str:
    """A text with its length in bytes."""
    return f"data {len(text.encode())}\n{text}\n"

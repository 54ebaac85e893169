"""What hostile pushes cost the gate: real pushes to a bare repository with the hooks installed.

`python -m bench.attacks [NAME...]`: the seconds of each by the clock and of the processor, the peak of memory
of all of the hook's processes, and how it ended. Nothing takes much more than a minute or 4 GiB of addresses.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

Files = dict[str, str]

SECONDS = 75
ADDRESSES = 4 << 30
DECLARED = "defaults: {description: d}\nparameters: {P: {type: list}, Q: {type: string}, S: {}}\n"
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Bench"), ("EMAIL", "bench@example.org"))
}
_NOBODY = "Bench <bench@example.org> 1700000000 +0000"


def instances(levels: int, used: bool) -> Files:
    """Includes that double at each level."""
    both = "include: [{feature: F%d, as: '${as}a'}, {feature: F%d, as: '${as}b'}]\n"
    files = {f"features/F{n}.yaml": both % (n + 1, n + 1) for n in range(levels)}
    files[f"features/F{levels}.yaml"] = "params: {'Q${as}': x}\n"
    files["groups/default.yaml"] = f"features: {['{feature: F0, as: x}'] if used else []}\n".replace("'", "")
    return files


def asking(levels: int) -> Files:
    """Instances whose number the outer instance says, at each level."""
    many = "include: [{feature: F%d, as: '${as}[1-${with.n}]', with: {n: '${with.n}'}}]\n"
    files = {f"features/F{n}.yaml": many % (n + 1) for n in range(levels)}
    files[f"features/F{levels}.yaml"] = "params: {'Q${as}': x}\n"
    files["groups/default.yaml"] = "features: [{feature: F0, as: x, with: {n: '9000'}}]\n"
    return files


def doubling_text(levels: int) -> Files:
    """A text that doubles from include to include."""
    double = "'${with.t}${with.t}'"
    files = {
        f"features/F{n}.yaml": f"include: [{{feature: F{n + 1}, as: x, with: {{t: {double}}}}}]\n"
        for n in range(levels)
    }
    files[f"features/F{levels}.yaml"] = "params: {Q: '${with.t}'}\n"
    files["groups/default.yaml"] = "features: [{feature: F0, as: x, with: {t: abcdefgh}}]\n"
    return files


def large_attribute() -> Files:
    text = "y" * 900_000
    return {
        "features/L.yaml": "params: {'Q_${as}': x}\n",
        "groups/default.yaml": f"features: [{{feature: L, as: 'x[1-10000]', with: {{t: {text}}}}}]\n",
        "parameters/q.yaml": "parameters: {'Q_*': {description: d}}\n",
    }


def long_lists(count: int) -> Files:
    """Lists that stand for ten thousand instances in each of their entries."""
    items = ", ".join(f"{{feature: L, as: 'x{n}_[1-10000]'}}" for n in range(1000))
    files = {f"groups/g{n}.yaml": f"features: [{items}]\n" for n in range(count)}
    return files | {"features/L.yaml": "{}\n"}


def reaching(count: int) -> Files:
    """Each feature includes the next by number, far away by name."""
    files = {f"features/F{n}.yaml": f"include: [Z{n % 50}]\n" for n in range(count)}
    return files | {f"features/Z{n}.yaml": "{}\n" for n in range(50)}


def wide(features: int, each: int) -> Files:
    """Many features, each of which includes another with as many instances as there may be."""
    files = {
        f"features/W{n}.yaml": f"include: [{{feature: Leaf, as: 'i[1-{each}]'}}]\n" for n in range(features)
    }
    files["features/Leaf.yaml"] = "params: {'Q_${as}': x}\n"
    names = ", ".join(f"W{n}" for n in range(features))
    files["groups/default.yaml"] = f"features: [{names}]\n"
    return files | {"parameters/q.yaml": "parameters: {'Q_*': {description: d}}\n"}


def members(count: int, sets: int = 1) -> Files:
    files = {
        f"nodesets/s{n}.yaml": f"nodes: s{n}n[1-{count // sets}]\ngroups: [g]\nparams: {{Q: x{n}}}\n"
        for n in range(sets)
    }
    return files | {"groups/g.yaml": "params: {S: y}\n", "gitcfg.yaml": "format: 1\nmax_nodes: 2000000\n"}


def small_files(folder: str, text: str, count: int = 100_000) -> Files:
    return {f"{folder}/f{n}.yaml": text.replace("N", str(n)) for n in range(count)}


def collecting(count: int) -> Files:
    """Each node collects from each."""
    collect = "{$collect: {param: S, feature: F}}"
    return {
        "nodesets/s.yaml": f"nodes: n[1-{count}]\nfeatures: [F]\nparams: {{S: {{$fact: name}}}}\n",
        "features/F.yaml": "{}\n",
        "groups/default.yaml": f"params: {{P: {collect}}}\n",
    }


def rules(nodes: int, count: int) -> Files:
    texts = (f"  r{n}: {{require: 'nodes.all(a, a.name != \"x{n}\")', per: '1'}}\n" for n in range(count))
    return {"nodesets/s.yaml": f"nodes: n[1-{nodes}]\n", "rules/r.yaml": "rules:\n" + "".join(texts)}


def patterns(count: int) -> Files:
    """Families of parameters, and names that none of them takes."""
    files = {
        f"parameters/q{n}.yaml": "parameters:\n"
        + "".join(f"  '{'*a' * 12}{n}x{k}*': {{description: d}}\n" for k in range(1000))
        for n in range(count // 1000)
    }
    names = "".join(f"  {'a' * 60}{n}: 1\n" for n in range(2000))
    return files | {"groups/default.yaml": f"params:\n{names}"}


def globs(count: int) -> Files:
    texts = "".join(f"  s{n}: {{description: d, params: ['{'*a' * 30}b']}}\n" for n in range(count))
    names = "".join(f"  {'a' * 200}{n}: {{description: d}}\n" for n in range(2000))
    return {"subsystems/s.yaml": "subsystems:\n" + texts, "parameters/q.yaml": "parameters:\n" + names}


def schemas(count: int) -> Files:
    inner = "{type: string, pattern: '^(a|b|ab)*c$', enum: [" + ", ".join(f"v{n}" for n in range(2000)) + "]}"
    texts = "".join(f"  Q{n}: {{description: d, schema: {inner}}}\n" for n in range(40))
    names = "".join(f"  Q{n}: {'ab' * 10000}\n" for n in range(40))
    return {f"parameters/q{k}.yaml": "parameters:\n" + texts.replace("Q", f"Q{k}_") for k in range(count)} | {
        f"groups/g{k}.yaml": "params:\n" + names.replace("Q", f"Q{k}_") for k in range(count)
    }


def growing(levels: int) -> Files:
    """A list that each feature doubles."""
    items = ", ".join("x" * 50 + str(n) for n in range(10_000))
    files = {
        f"features/F{n}.yaml": f"include: [F{n + 1}]\nparams: {{P: {{$append: [{items}]}}}}\n"
        for n in range(levels)
    }
    return files | {f"features/F{levels}.yaml": "{}\n", "groups/default.yaml": "features: [F0]\n"}


def crosswise(levels: int, used: bool = True) -> Files:
    files = {}
    for n in range(levels):
        for letter in "AB":
            files[f"features/{letter}{n}.yaml"] = f"include: [A{n + 1}, B{n + 1}]\n"
    files |= {f"features/{letter}{levels}.yaml": "params: {P: {$append: x}}\n" for letter in "AB"}
    return files | {"groups/default.yaml": f"features: [{'A0, B0' if used else ''}]\n"}


def overrides(count: int, nodes: int) -> Files:
    text = "where: 'node.name.endsWith(\"N\")'\nreason: r\nuntil: 2099-01-01\nparams: {Q: oN}\n"
    return small_files("overrides", text, count) | {"nodesets/s.yaml": f"nodes: n[1-{nodes}]\n"}


def templates(count: int) -> Files:
    text = "{% for a in range(9999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    named = ", ".join(f"/etc/t{n}: {{template: t{n}.j2}}" for n in range(count))
    files = {f"templates/t{n}.j2": text for n in range(count)}
    return files | {"groups/default.yaml": f"files: {{{named}}}\n", "nodesets/s.yaml": "nodes: n[1-100]\n"}


def conditions(count: int) -> Files:
    slow = "lists.range(500).all(x, sets.contains(lists.range(9000), lists.range(9000)))"
    text = f"where: '{slow} || node.name == \"N\"'\nreason: r\nuntil: 2099-01-01\nparams: {{Q: oN}}\n"
    return small_files("overrides", text, count) | {"nodesets/s.yaml": "nodes: n[1-100]\n"}


def own_nodes(count: int) -> Files:
    """Nodes that are all different, with values of their own."""
    return small_files("nodes", "groups: [g]\nparams: {Q: qN, S: sN}\n", count) | {"groups/g.yaml": "{}\n"}


Bomb = Callable[[Path], None]


def written(files: Callable[[], Files]) -> Bomb:
    return lambda desk: import_files(desk, files())


def import_files(desk: Path, files: Files) -> None:
    """Commit files beside what there is, without a work tree."""
    said = {"parameters/p.yaml": DECLARED, **files}
    blobs = {text: mark for mark, text in enumerate(dict.fromkeys(said.values()), 1)}

    def stream() -> Iterator[bytes]:
        for text, mark in blobs.items():
            data = text.encode()
            yield b"blob\nmark :%d\ndata %d\n%s\n" % (mark, len(data), data)
        yield f"commit refs/heads/main\ncommitter {_NOBODY}\ndata 4\nBomb\nfrom refs/heads/main^0\n".encode()
        yield from (f"M 644 :{blobs[text]} {path}\n".encode() for path, text in said.items())

    fed(desk, b"".join(stream()), "fast-import", "--quiet", "--force")


def fed(desk: Path, data: bytes, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(desk), *words], input=data, capture_output=True, check=True, env=environment(desk)
    )
    return done.stdout.decode().strip()


def tree(desk: Path, *entries: tuple[str, str, str]) -> str:
    """A tree of modes, names and ids, whatever the names are."""
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(id) for mode, name, id in entries)
    return fed(desk, data, "hash-object", "-t", "tree", "-w", "--literally", "--stdin")


def commit_tree(desk: Path, root: str) -> None:
    new = fed(desk, b"", "commit-tree", "-p", "main", "-m", "Bomb", root)
    fed(desk, b"", "update-ref", "refs/heads/main", new)


def settings(desk: Path) -> tuple[str, str, str]:
    return "100644", "gitcfg.yaml", fed(desk, b"", "rev-parse", "main:gitcfg.yaml")


def named(*names: str) -> Bomb:
    """A tree with entries of these names."""

    def make(desk: Path) -> None:
        blob = fed(desk, b"x", "hash-object", "-w", "--stdin")
        inner = tree(desk, *(("100644", name, blob) for name in names))
        entries = (("40000", "files", inner), settings(desk))
        commit_tree(desk, tree(desk, *entries))

    return make


def shared_trees(folder: str) -> Bomb:
    """Ten levels of ten references to the same tree: 10^10 files in a dozen objects."""

    def make(desk: Path) -> None:
        blob = fed(desk, b"{}\n", "hash-object", "-w", "--stdin")
        inner = tree(desk, *(("100644", f"f{n}.yaml", blob) for n in range(10)))
        for _ in range(9):
            inner = tree(desk, *(("40000", f"d{n}", inner) for n in range(10)))
        commit_tree(
            desk, tree(desk, *sorted((("40000", folder, inner), settings(desk)), key=lambda one: one[1]))
        )

    return make


def nested(levels: int) -> Bomb:
    def make(desk: Path) -> None:
        blob = fed(desk, b"{}\n", "hash-object", "-w", "--stdin")
        inner = tree(desk, ("100644", "f.yaml", blob))
        import hashlib
        import zlib

        for _ in range(levels):
            data = b"40000 d\0" + bytes.fromhex(inner)
            whole = b"tree %d\0" % len(data) + data
            inner = hashlib.sha1(whole).hexdigest()
            place = desk / ".git/objects" / inner[:2] / inner[2:]
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(whole, 0))
        commit_tree(desk, tree(desk, ("40000", "features", inner), settings(desk)))

    return make


def commits(count: int) -> Bomb:
    """Many commits with an error each, on a server that judges each."""

    def make(desk: Path) -> None:
        fed(desk, b"", "-C", "../srv.git", "config", "gitcfg.check", "each")
        texts = [f"params: {{W{n}: 1}}\n" for n in range(count)]
        start = f"commit refs/heads/main\ncommitter {_NOBODY}\ndata 2\nx\n"
        said = [f"M 644 inline groups/default.yaml\ndata {len(text)}\n{text}\n" for text in texts]
        stream = f"{start}from refs/heads/main^0\n" + start.join(said)
        fed(desk, stream.encode(), "fast-import", "--quiet", "--force")

    return make


def big_blob(size: int) -> Bomb:
    def make(desk: Path) -> None:
        blob = fed(desk, b"\0" * size, "hash-object", "-w", "--stdin")
        inner = tree(desk, ("100644", "f.yaml", blob))
        files = tree(desk, ("100644", "f", blob))
        groups = tree(
            desk,
            (
                "100644",
                "default.yaml",
                fed(desk, b"files: {/etc/f: {source: f}}\n", "hash-object", "-w", "--stdin"),
            ),
        )
        nodes = tree(desk, ("100644", "n.yaml", fed(desk, b"{}\n", "hash-object", "-w", "--stdin")))
        commit_tree(
            desk,
            tree(
                desk,
                ("40000", "features", inner),
                ("40000", "files", files),
                settings(desk),
                ("40000", "groups", groups),
                ("40000", "nodes", nodes),
            ),
        )

    return make


BOMBS: dict[str, Bomb] = {
    "instances that double, used": written(lambda: instances(24, True)),
    "instances that double, unused": written(lambda: instances(24, False)),
    "30 features of 10,000 instances": written(lambda: wide(30, 10_000)),
    "instances that ask": written(lambda: asking(60)),
    "a text that doubles": written(lambda: doubling_text(90)),
    "10,000 instances of 900 kB": written(large_attribute),
    "20 lists of 10,000,000 instances": written(lambda: long_lists(20)),
    "50,000 features that reach far": written(lambda: reaching(50_000)),
    "includes crosswise, 60 levels": written(lambda: crosswise(60)),
    "1,900,000 members with groups": written(lambda: members(1_900_000)),
    "200,000 members in 200 sets": written(lambda: members(200_000, 200)),
    "100,000 small features": written(lambda: small_files("features", "{}\n")),
    "100,000 small nodes": written(lambda: small_files("nodes", "{}\n")),
    "100,000 nodes of their own": written(lambda: own_nodes(100_000)),
    "100,000 small groups with errors": written(lambda: small_files("groups", "params: {WN: 1}\n")),
    "100,000 small rules": written(lambda: small_files("rules", "rules: {rN: {require: 'true'}}\n")),
    "100,000 small files/": written(lambda: small_files("files", "N\n")),
    "10^10 features in shared trees": shared_trees("features"),
    "10^10 files in shared trees": shared_trees("files"),
    "a folder 20,000 deep": nested(20_000),
    "2,000 commits, each judged": commits(2000),
    "blobs of 1 GB of nothing": big_blob(1_000_000_000),
    "collecting all from all of 5,000": written(lambda: collecting(5_000)),
    "200 rules over 100,000 nodes": written(lambda: rules(100_000, 200)),
    "10,000 patterns": written(lambda: patterns(10_000)),
    "2,000 deep globs": written(lambda: globs(2_000)),
    "schemas": written(lambda: schemas(5)),
    "lists that grow": written(lambda: growing(100)),
    "2,000 overrides of 100,000 nodes": written(lambda: overrides(2_000, 100_000)),
    "200 slow conditions": written(lambda: conditions(200)),
    "200 slow templates": written(lambda: templates(200)),
    ".git in a tree": named(".git"),
    ".. in a tree": named(".."),
    ". in a tree": named("."),
    "names of other systems": named(".GIT", ".g\u200cit", "git~1"),
}


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONPATH": str(Path(__file__).parents[1]),
        **_IDENTITY,
    }


def run(home: Path, *words: str) -> None:
    subprocess.run(words, cwd=home, env=environment(home), check=True, capture_output=True)


class Site:
    """A server with the gate, and a desk whose first commit it has."""

    def __init__(self, home: Path) -> None:
        self.home, self.desk = home, home / "desk"
        run(home, "git", "init", "-q", "--bare", "--initial-branch=main", "srv.git")
        run(home, "gitcfg", "hook", "install", "--server", "srv.git")
        run(home, "git", "init", "-q", "--initial-branch=main", "desk")
        (self.desk / "gitcfg.yaml").write_text("format: 1\n")
        run(self.desk, "git", "add", "--all")
        run(self.desk, "git", "commit", "-q", "-m", "First")
        run(self.desk, "git", "push", "-q", "../srv.git", "main")

    def push(self, *words: str) -> tuple[str, float, float, float]:
        """How a push ended, its seconds by the clock and of the processor, and MiB."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start, seen = time.monotonic(), dict[int, str]()
        with tempfile.TemporaryFile() as told:
            process = subprocess.Popen(
                ["git", "push", "-q", "../srv.git", *(words or ("main",))],
                cwd=self.desk, env=environment(self.home), stdout=told, stderr=told, preexec_fn=limited,
            )  # fmt: skip
            peak = 0.0
            while process.poll() is None and time.monotonic() < start + SECONDS:
                peak = max(peak, memory(process.pid, seen))
                time.sleep(0.05)
            late = process.poll() is None
            for pid in [*seen, process.pid] if late else ():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            took = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told.seek(0)
            lines = [
                line for line in told.read().decode(errors="replace").splitlines() if line.strip(" remot:")
            ]
        interesting = [line for line in lines if "error" in line] or lines or ["taken"]
        how = "NO END" if late else f"{'refused' if process.returncode else 'taken'}: {interesting[0][:110]}"
        return how, took, busy, peak


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def memory(top: int, seen: dict[int, str]) -> float:
    """MiB of all Python processes below one, without what they share being counted twice."""
    total = 0
    for pid in below(top):
        with suppress(OSError):
            if pid not in seen:
                seen[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].decode()
            if "python" in seen[pid]:
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                total += int(text.partition("\nPss:")[2].split()[0])
    return total / 1024


def below(top: int) -> Iterable[int]:
    pending = [top]
    while pending:
        pid = pending.pop()
        yield pid
        with suppress(OSError):
            told = (place.read_text() for place in Path(f"/proc/{pid}/task").glob("*/children"))
            pending += map(int, chain.from_iterable(text.split() for text in told))


def main(names: Iterable[str]) -> None:
    for name in names or BOMBS:
        with tempfile.TemporaryDirectory(prefix="gitcfg-attack-") as folder:
            site = Site(Path(folder))
            BOMBS[name](site.desk)
            how, took, busy, peak = site.push()
            print(f"{name:34} {took:6.1f} s {busy:6.1f} s {peak:6.0f} MiB  {how}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

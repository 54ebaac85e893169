"""Whatever is pushed: a finding, no crash, nothing read outside the tree, bounded time and memory.

Each repository is checked by a process of its own under a limit on its memory. The time limit is
generous, since the machine may be loaded: what it catches is what would never end.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

MEMORY = 2 << 30
SECONDS = 20

Files = dict[str, str | bytes]
PARAMS = "defaults: {description: d}\nparameters: {P: {type: list}, E: {type: expression}, S: {}}\n"


def chain(length: int) -> Files:
    files: Files = {f"features/F{n}.yaml": f"include: [F{n + 1}]\n" for n in range(length)}
    return files | {f"features/F{length}.yaml": "{}\n", "groups/default.yaml": "features: [F0]\n"}


def doubling(levels: int) -> Files:
    files: Files = {"groups/default.yaml": "features: [A0, B0]\n", "parameters/p.yaml": PARAMS}
    for n in range(levels):
        for letter in "AB":
            files[f"features/{letter}{n}.yaml"] = f"include: [A{n + 1}, B{n + 1}]\n"
    for letter in "AB":
        files[f"features/{letter}{levels}.yaml"] = "params: {P: {$append: x}}\n"
    return files


def clique(size: int) -> Files:
    names = [f"F{n}" for n in range(size)]
    return {
        f"features/{name}.yaml": f"include: [{', '.join(other for other in names if other != name)}]\n"
        for name in names
    }


def growing() -> Files:
    big = ", ".join(["x" * 50] * 10_000)
    files: Files = {"parameters/p.yaml": PARAMS, "groups/default.yaml": "features: [F0]\n"}
    for n in range(20):
        files[f"features/F{n}.yaml"] = f"include: [F{n + 1}]\nparams: {{P: {{$append: [{big}]}}}}\n"
    files["features/F20.yaml"] = "{}\n"
    return files


def instances(levels: int, listed: str) -> Files:
    """Instances that double at each level."""
    both = "{feature: F%d, as: '${as}a'}, {feature: F%d, as: '${as}b'}"
    files: Files = {f"features/F{n}.yaml": f"include: [{both % (n + 1, n + 1)}]\n" for n in range(levels)}
    return files | {f"features/F{levels}.yaml": "{}\n", "groups/default.yaml": f"features: [{listed}]\n"}


def doubled_text(levels: int) -> Files:
    """A text that doubles from instance to instance."""
    said = "as: x, with: {t: '${with.t}${with.t}'}"
    files: Files = {
        f"features/F{n}.yaml": f"include: [{{feature: F{n + 1}, {said}}}]\n" for n in range(levels)
    }
    files[f"features/F{levels}.yaml"] = "{}\n"
    return files | {"groups/default.yaml": "features: [{feature: F0, as: x, with: {t: abc}}]\n"}


def template(text: str) -> Files:
    return {
        "templates/t.j2": text,
        "groups/default.yaml": "files: {/etc/t: {template: t.j2}}\n",
        "nodes/n.yaml": "groups: []\n",
    }


def schema(text: str) -> Files:
    return {
        "parameters/p.yaml": f"parameters: {{P: {{description: d, schema: {text}}}}}\n",
        "groups/default.yaml": f'params: {{P: "{"a" * 5000}!"}}\n',
    }


def where(text: str) -> Files:
    said = msgspec.json.encode(text).decode()
    return {
        "nodesets/s.yaml": "nodes: n[1-200]\n",
        "overrides/o.yaml": f"where: {said}\nreason: r\nuntil: 2099-01-01\nwithout: []\n",
    }


def looping(depth: int) -> str:
    """A CEL list made by loops inside loops."""
    inner = "[1]" if depth == 0 else looping(depth - 1)
    return f"[1, 2, 3, 4, 5, 6, 7, 8].map(x{depth}, {inner})"


REPOSITORIES: dict[str, tuple[str, Callable[[], Files]]] = {
    "a bomb of aliases": ("GC101", lambda: {"groups/g.yaml": "a: &a [x]\nb: &b [*a, *a]\n"}),
    "a line of 10 MB": ("GC101", lambda: {"groups/g.yaml": "description: " + "x" * 10_000_000}),
    "100,000 levels": ("GC101", lambda: {"groups/g.yaml": "[" * 100_000}),
    "100,000 levels of blocks": ("GC101", lambda: {"groups/g.yaml": "- " * 100_000}),
    "a thousand keys twice": ("GC101", lambda: {"groups/g.yaml": "a: 1\n" * 1000}),
    "invalid UTF-8": ("GC101", lambda: {"groups/g.yaml": b"a: \xff\xfe\n"}),
    "UTF-16": ("GC101", lambda: {"groups/g.yaml": "a: 1\n".encode("utf-16")}),
    "a NUL": ("GC101", lambda: {"groups/g.yaml": b"a: \0\n"}),
    "an integer of a million digits": (
        "GC101",
        lambda: {"groups/g.yaml": "params: {S: " + "9" * 1_000_000 + "}"},
    ),
    "100,000 unknown keys": (
        "GC102",
        lambda: {"groups/g.yaml": "".join(f"k{n}: 1\n" for n in range(80_000))},
    ),
    "10^12 nodes": ("GC103", lambda: {"nodesets/s.yaml": "nodes: n[1-1000000000000]\n"}),
    "10^12 nodes in two ranges": ("GC103", lambda: {"nodesets/s.yaml": "nodes: n[1-1000000][1-1000000]\n"}),
    "10^9 instances": (
        "GC103",
        lambda: {
            "features/F.yaml": "{}\n",
            "groups/g.yaml": 'features: [{feature: F, as: "x[1-1000000000]"}]\n',
        },
    ),
    "operators among nodes": ("GC103", lambda: {"nodesets/s.yaml": 'nodes: "@all!x"\n'}),
    "widths that differ": ("GC103", lambda: {"nodesets/s.yaml": "nodes: n[01-100]\n"}),
    "a template's name that leads out": (
        "GC201",
        lambda: {"groups/g.yaml": "files: {/etc/t: {template: ../../../etc/passwd}}\n"},
    ),
    "a source's name that leads out": (
        "GC201",
        lambda: {"groups/g.yaml": "files: {/etc/t: {source: ../../../../etc/passwd}}\n"},
    ),
    "a chain of 3,000 includes": ("GC105", lambda: chain(3000)),
    "includes that double 60 times": ("GC105", lambda: doubling(60)),
    "instances that double 24 times": ("GC105", lambda: instances(24, "{feature: F0, as: x}")),
    "instances that double, which nobody has": ("GC105", lambda: instances(24, "")),
    "a text that doubles 90 times": ("GC105", lambda: doubled_text(90)),
    "a list of 10^7 instances": (
        "GC103",
        lambda: {
            "features/F.yaml": "{}\n",
            "groups/g.yaml": "features: ["
            + ", ".join(f"{{feature: F, as: 'x{n}x[1-10000]'}}" for n in range(1000))
            + "]\n",
        },
    ),
    "40 features that all include each other": ("GC202", lambda: clique(40)),
    "lists that grow without end": ("GC306", growing),
    "a template that loops": (
        "GC208",
        lambda: template("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"),
    ),
    "a template that allocates": ("GC208", lambda: template("{{ 'x' * 10000000000 }}")),
    "a template that writes without end": (
        "GC208",
        lambda: template("{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}"),
    ),
    "a template that changes what it is given": ("GC208", lambda: template("{{ params.update({'a': 1}) }}")),
    "a template that reaches for attributes": (
        "GC208",
        lambda: template("{{ ''.__class__.__mro__[1].__subclasses__() }}"),
    ),
    "a template that includes itself": ("GC208", lambda: template("{% include 't.j2' %}")),
    "a template that includes a file outside": ("GC208", lambda: template("{% include '../gitcfg.yaml' %}")),
    "a template of brackets": ("GC208", lambda: template("{{ " + "(" * 100_000)),
    "a schema with a pattern that explodes": ("GC206", lambda: schema('{pattern: "^(a+)+$"}')),
    "a schema that refers to a file": ("GC102", lambda: schema('{$ref: "file:///etc/passwd"}')),
    "a schema that leads in a cycle": ("GC206", lambda: schema('{type: integer, allOf: [{$ref: "#"}]}')),
    "a condition that loops": ("GC408", lambda: where(looping(9) + ".size() == 4")),
    "a name with a line break": ("GC103", lambda: {"groups/a\nb.yaml": "{}\n"}),
}


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("name", REPOSITORIES)
def test_hostile_repositories_are_findings(name: str, tmp_path: Path) -> None:
    code, make = REPOSITORIES[name]
    for path, content in ({"gitcfg.yaml": "format: 1\n"} | make()).items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = subprocess.run(
        [sys.executable, "-m", "gitcfg", "-C", str(tmp_path), "check", "-o", "json"],
        capture_output=True,
        timeout=SECONDS,
        preexec_fn=limited,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    findings = msgspec.json.decode(done.stdout)["findings"]
    assert code in {finding["code"] for finding in findings}
    assert b"root:" not in done.stdout


def test_the_same_is_told_in_text_without_commands_for_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups/\x1b[31mred.yaml").write_text("{}\n")
    (tmp_path / "groups/g.yaml").write_text('features: ["\\e[2J\\a"]\n')
    done = subprocess.run(
        [sys.executable, "-m", "gitcfg", "-C", str(tmp_path), "check"], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout + done.stderr
    assert b"\x07" not in done.stdout + done.stderr

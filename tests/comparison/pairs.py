"""Pairs of random repositories that share some of their files, with files, templates and subsystems."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.strategies import Files, wild

ENTRIES = (
    "/etc/a: {format: json, params: ['*']}",
    "/etc/a: {format: json, params: ['*', '!STR']}",
    "/etc/a: {format: condor, params: ['*', '!MAP', '!ANY', '!LI*']}",
    "/etc/a: {format: yaml, params: {tags: [t]}}",
    "/etc/b: {template: t.j2}",
    "/etc/b: {template: t.j2, mode: '0600'}",
    "/etc/b: null",
    "/etc/c: {text: one}",
    "/etc/c: {text: two}",
    "/etc/c: {source: s}",
)
TEXTS = (
    "plain",
    "{{ node.name }} {{ node.labels }}",
    "{{ params.get('STR') }}",
    "{{ params.STR }}",
    "{% for p in params %}{{ p }} {% endfor %}",
    "{{ features }}",
    "{{ groups }}",
    "{% include 'u.j2' %}",
    "{% include params.get('STR', 'u') ~ '.j2' ignore missing %}",
    "{% include ['gone.j2', 'u.j2'] %}",
    "{% broken",
)
SUBSYSTEMS = """
subsystems:
  one: {description: 1, params: ["*"], reload: [x], restart: [x]}
  two: {description: 2, params: [STR, "FAM_*"], files: ["/etc/b"], features: [A, B]}
  three: {description: 3, params: [INT], features: [C], covers: [%s]}
"""


@st.composite
def extras(draw: DrawFn) -> Files:
    """What repositories of laws.py have not."""
    choose = st.sampled_from
    found = {"subsystems/s.yaml": SUBSYSTEMS % draw(choose(("one", "two", '"*"')))}
    for name in ("t.j2", "u.j2", "gone.j2"):
        if draw(st.integers(0, 4)):
            found[f"templates/{name}"] = draw(choose(TEXTS if name == "t.j2" else TEXTS[:7]))
    if draw(st.booleans()):
        found["files/s"] = draw(choose(("one", "two")))
    return found


def with_entries(draw: DrawFn, files: Files) -> Files:
    """Groups that bring files, too."""
    result = dict(files)
    for name in ("default", "G"):
        entries = draw(st.lists(st.sampled_from(ENTRIES), max_size=3, unique_by=lambda entry: entry[:6]))
        if entries:
            path = f"groups/{name}.yaml"
            result[path] = files[path] + "files:\n" + "".join(f"  {entry}\n" for entry in entries)
    return result


@st.composite
def pairs(draw: DrawFn) -> tuple[Files, Files]:
    """A repository, and one that has some of its files, some others, and lacks some."""
    old = with_entries(draw, draw(wild())) | draw(extras())
    other = with_entries(draw, draw(wild())) | draw(extras())
    share = draw(st.sampled_from((0, 1, 3, 9)))
    new = {}
    for path in sorted(old.keys() | other.keys()):
        taken = draw(st.integers(0, 9))
        source = other if taken < share else old
        if path in source and (taken or path == "gitcfg.yaml"):
            new[path] = source[path]
    return old, new

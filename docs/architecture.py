"""Draws the packages and what they import, docs/pictures/architecture.svg: `make architecture`.

A package stands in its tier. An arrow that others imply is left out.
"""

import subprocess
from collections import defaultdict
from pathlib import Path

from tests.test_architecture import TIERS, imports, part, trees

FILE = Path(__file__).parent / "pictures/architecture.svg"
LEFT_OUT = {"__init__", "__main__"}
HEAD = """digraph {
  graph [rankdir=TB, nodesep=0.15, ranksep=0.55, bgcolor="transparent"]
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, height=0.35,
    margin="0.12,0.06", color="#94690a", fillcolor="#fff6dc", fontcolor="#1b1f24"]
  edge [color="#7a8089", arrowsize=0.6]
"""


def package_imports() -> dict[str, set[str]]:
    """Return the packages that each package imports, without those at the top that only export."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in trees():
        own = part(file)
        for module, name in imports(file):
            names = [*module.split("."), name]
            if names[0] == "gitcfg" and names[1] in packages():
                found[own].add(names[1])
    return {own: others - {own} for own, others in found.items() if own not in LEFT_OUT}


def packages() -> set[str]:
    """Return the names of the packages, and of the modules that stand beside them."""
    return {part(file) for file in trees()} - LEFT_OUT


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return a graph without the edges that longer ways imply."""
    reached: dict[str, set[str]] = {}

    def reach(name: str) -> set[str]:
        if name not in reached:
            reached[name] = set()  # a circle would end here
            reached[name] = graph.get(name, set()).union(*map(reach, graph.get(name, set())))
        return reached[name]

    return {
        name: {other for other in others if not any(other in reach(way) for way in others - {other})}
        for name, others in graph.items()
    }


def draw() -> str:
    """Return the graph in Graphviz's language."""
    known, lines = packages(), [HEAD]
    for tier, names in TIERS.items():
        standing = [name for name in sorted(names.split()) if name in known]
        lines.append(f"  {{rank=same; tier{tier}; {'; '.join(standing)}}}")
        lines.append(f'  tier{tier} [label="{tier}", shape=plain, style="", fontcolor="#7a8089"]')
    lines.append("  " + " -> ".join(f"tier{tier}" for tier in reversed(TIERS)) + " [style=invis]")
    for name, others in sorted(reduced(package_imports()).items()):
        lines.extend(f"  {name} -> {other}" for other in sorted(others))
    return "\n".join([*lines, "}", ""])


if __name__ == "__main__":
    done = subprocess.run(["dot", "-Tsvg"], input=draw().encode(), capture_output=True, check=True)
    FILE.write_bytes(done.stdout)

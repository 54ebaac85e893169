"""Repositories to report on: hostile texts, and a fleet below git's top whose mistakes have known places."""

import subprocess
from pathlib import Path

from hypothesis import strategies as st

from gitcfg.check.findings import CODES
from gitcfg.model import Finding, Origin, Severity

HOSTILE = st.text(
    st.one_of(
        st.sampled_from("%,:\r\n\t\x1b\0[](){}\\\"'`=;#&<> ☃é𝄞\u2028\udc80"),
        st.sampled_from("aB0"),
    ),
    max_size=12,
)
NAMES = HOSTILE.map(lambda text: f"features/{text.replace(chr(0), '')}.yaml")
ORIGINS = st.builds(Origin, NAMES, st.integers(1, 9999), st.integers(1, 999))
FINDINGS = st.builds(
    Finding,
    st.sampled_from(list(CODES)),
    st.lists(HOSTILE, max_size=2).map(tuple),
    HOSTILE,
    st.lists(ORIGINS, max_size=3).map(tuple),
    st.sampled_from([(), ("n1",), ("n1", "n2", "n3")]),
    st.sampled_from(Severity),
    HOSTILE,
)

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  NUM: {description: A number., type: integer}\n",
    "features/A, 100%: b.yaml": "description: Its name is wrong.\n",
    "features/A.yaml": "description: Ä 𝄞.\ndepends: [B, Missing%0A]\n",
    "features/B.yaml": "description: B.\n",
    "groups/default.yaml": 'description: "𝄞𝄞 é"\nparams: {"NUM": 𝄞}\nfeatures: [Absent, A]\n',
    "nodesets/n.yaml": "nodes: n[1-4]\n",
}
WRITTEN = {
    ("GC103", "features/A, 100%: b.yaml"): "description",
    ("GC201", "features/A.yaml"): "Missing%0A",
    ("GC201", "groups/default.yaml"): "Absent",
    ("GC206", "groups/default.yaml"): "𝄞}",
    ("GC301", "groups/default.yaml"): "A]",
}
"""By code and file: the text that stands where the finding is."""


def make(folder: Path, prefix: str = "") -> Path:
    """The fleet in a git repository, below its top if there is a prefix; the fleet's folder."""
    root = folder / prefix
    for name, text in FILES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return root


def follows(root: Path, file: str, line: int, column: int) -> str:
    """What stands in a file from a place on."""
    return (root / file).read_text(encoding="utf-8").split("\n")[line - 1][column - 1 :]

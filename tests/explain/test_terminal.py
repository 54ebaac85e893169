"""What comes from a repository is no command to a terminal."""

from pathlib import Path

import pytest

from gitcfg.cli.main import run

ESCAPE = "\\e[31m"
FILES = {
    "gitcfg.yaml": "format: 1\nundeclared: allow\n",
    "features/F.yaml": (
        f'description: "a {ESCAPE} b"\n'
        f'params: {{P: "x {ESCAPE}", "Q{ESCAPE}": 1}}\n'
        f'files: {{"/f{ESCAPE}": {{text: "{ESCAPE}", owner: "o{ESCAPE}"}}}}\n'
    ),
    "groups/default.yaml": f'features: [{{feature: F, as: "x{ESCAPE}"}}]\n',
    "nodes/n.yaml": f'labels: ["l{ESCAPE}"]\nfacts: {{f: "{ESCAPE}"}}\n',
    "overrides/o.yaml": f'nodes: n\nreason: "r {ESCAPE}"\nuntil: 2026-06-01\n',
    "subsystems/s.yaml": (
        f'subsystems: {{s: {{description: "{ESCAPE}", params: ["P", "Q*"], restart: ["{ESCAPE}"]}}}}\n'
    ),
}
ESCAPED = "\x1b[31m"
COMMANDS = [
    ["explain", "n"],
    ["explain", "n", "P", f"Q{ESCAPED}"],
    ["explain", "n", "--feature", "F", "--file", f"/f{ESCAPED}"],
    ["explain", "n", "--file", "/f"],
    ["values", f"Q{ESCAPED}"],
    ["values", "Q"],
    ["search", "31m"],
    *(["show", kind] for kind in ("nodes", "features", "parameters", "files", "overrides", "subsystems")),
    ["show", "feature", "F"],
    ["show", "parameter", f"Q{ESCAPED}"],
    ["show", "file", f"/f{ESCAPED}"],
    ["show", "file", "/f"],
    ["show", "node", "n"],
    ["show", "override", "o"],
    ["show", "subsystem", "s"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: "-".join(words).replace(ESCAPED, ""))
def test_escapes_are_shown_as_text(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for path, text in FILES.items():
        place = tmp_path / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    code = run(["-C", str(tmp_path), "--color", "never", *words])
    out, err = capfd.readouterr()
    assert code in (0, 2)
    assert out or err
    assert "\x1b" not in out + err

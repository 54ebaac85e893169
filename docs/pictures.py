"""Makes the pictures of README.md, docs/pictures/*.svg, from real runs: `make pictures`."""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent / "pictures"
NODE = "exec01.pool.example.org"
EVE = r"""sed -i 's/^params:/params:\n  START: {$and: Owner =!= "eve"}/' groups/Workers.yaml"""
MISTAKES = r"""sed -i groups/Workers.yaml \
  -e 's/^features:/features:\n  - ExecuteNodes/' -e 's/^params:/params:\n  SHARED_PORT_MAX_WORKERS: many/'"""
FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""What rich's pictures fetch from elsewhere; without it the reader's own monospace font is taken."""

STYLE = re.compile(r"\s*<style>(.*?)</style>", re.DOTALL)
RULE = re.compile(r"\.([\w-]+) \{(.*?)\}", re.DOTALL)
CLASS = re.compile(r'class="([\w-]+)"')
ATTRIBUTES = {"fill", "font-family", "font-size", "font-style", "font-weight", "text-decoration"}
"""What of a style sheet is an attribute in SVG as well."""


class Picture(msgspec.Struct, frozen=True):
    """A command as one would type it, what was done before it, and how many columns it takes."""

    command: str
    before: str = ""
    columns: int = 100


PICTURES = {
    "explain": Picture(f"gitcfg explain {NODE} START DAEMON_LIST", EVE),
    "diff": Picture("gitcfg diff", EVE),
    "check": Picture("gitcfg check", MISTAKES),
}


def pictures() -> dict[str, str]:
    """All pictures by name."""
    return {name: drawn(name, picture) for name, picture in PICTURES.items()}


def groups() -> str:
    """Graphviz's picture of the sample pool's groups."""
    return ran(Picture("gitcfg graph groups -o svg"))


def drawn(name: str, picture: Picture) -> str:
    """What a terminal shows after a command, as SVG."""
    console = Console(
        record=True, width=picture.columns, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text("$ ", "bold green") + Text(picture.command, "bold"))
    console.print(Text.from_ansi(ran(picture)))
    return style_elements(
        console.export_svg(
            title=picture.command.partition(" -")[0],
            theme=MONOKAI,
            code_format=FONT.sub("", CONSOLE_SVG_FORMAT),
            unique_id=name,
        )
    )


def style_elements(picture: str) -> str:
    """Return a picture with the styles of its classes at each element: not all viewers know style sheets."""
    picture = picture.replace("Fira Code, ", "")  # some take only one family
    sheet, styles = STYLE.search(picture), dict[str, str]()
    assert sheet is not None
    for name, body in RULE.findall(sheet[1]):
        given = (line.partition(":") for line in body.split(";") if ":" in line)
        pairs = {key.strip(): value.strip() for key, _, value in given}
        styles[name] = " ".join(f'{key}="{value}"' for key, value in pairs.items() if key in ATTRIBUTES)
    picture = STYLE.sub("", picture).replace(' class="rich-terminal"', ' xml:space="preserve"', 1)
    return CLASS.sub(lambda found: styles.get(found[1], ""), picture)


def ran(picture: Picture) -> str:
    """What a command prints in a fresh sample pool, colours included."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": home,
            "FORCE_COLOR": "1",
            "GITCFG_TODAY": "2026-02-01",
            **{f"GIT_{who}_{what}": f"ada{at}" for who in ("AUTHOR", "COMMITTER") for what, at in _WHO},
        }
        script = (
            f"gitcfg init pool --from htcondor 2>/dev/null && cd pool && {{ {picture.before or ':'}; }} && "
        )
        done = subprocess.run(
            ["bash", "-c", f"{script} {{ {picture.command}; }} 2>&1"],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stdout


_WHO = (("NAME", ""), ("EMAIL", "@example.org"))


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
    (FOLDER / "groups.svg").write_text(groups(), encoding="utf-8")


if __name__ == "__main__":
    main()

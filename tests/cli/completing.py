"""A repository to complete names of, and what is offered for a word."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitcfg.cli.completion.shells import complete
from gitcfg.deploy.records import runs_folder

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/a.yaml": "parameters:\n  START: {type: expression}\n  CONDOR_HOST: {}\n  'SLOT_*': {}\n",
    "subsystems/s.yaml": "subsystems: {startd: {}, schedd: {}}\n",
    "features/htcondor/ExecuteNode.yaml": "params: {SLOT_TYPE_1: x}\nfiles: {/etc/condor/a.conf: {}}\n",
    "features/GpuNode.yaml": "include: [ExecuteNode]\n",
    "groups/Big memory workers.yaml": "params: {RANK: 1}\n",
    "groups/Central managers.yaml": "files:\n  /etc/motd: {template: motd.j2}\n",
    "nodes/exec07.example.org.yaml": "groups: []\n",
    "nodes/rack 1/gpu01.example.org.yaml": "{}\n",
    "nodesets/mpi.yaml": "nodes: mpi[1-3].example.org,login\ngroups: []\n",
    "overrides/climate reservation.yaml": "params: {}\n",
    "templates/motd.j2": "hello\n",
}


GIT = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def pool_in(top: Path) -> Path:
    """A repository with branches, a tag and a snapshot, and beside it other things that can be named."""
    folder = write(top / "pool", FILES)
    (top / "build dir").mkdir()
    (top / "dump file.yaml").write_text("")
    for words in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["commit", "--quiet", "-m", "start"],
        ["branch", "topic/one"],
        ["tag", "v1.0"],
        ["tag", "--annotate", "-m", "Spring", "snapshot/2026/spring"],
    ):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    deploys = runs_folder(folder / ".git")
    deploys.mkdir()
    for name in ("1pkd3a0aaa.jsonl", "1pkd3b1bbb.jsonl", "$(touch x).jsonl", "notes"):
        (deploys / name).write_text("")
    return folder


def offered(words: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """What is offered for the last word, with how it is to be taken where that is not plain."""
    how, *lines = complete(["zsh", *words], environ or {}).splitlines()
    return [*([] if how == "words" else [f"<{how}>"]), *(line.split("\t")[0] for line in lines)]

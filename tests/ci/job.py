"""Runs the scripts of forges' YAML for real: in a clone, with the shell and the variables of a runner."""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "hooks" / "ci"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_CONTEXT = re.compile(r"\b(?:inputs|github|steps|runner)(?:\.[\w-]+)+")


def document(name: str) -> Any:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


def script(template: dict[str, Any], name: str) -> str:
    """What a job of GitLab's runs."""
    job = {**template[template[name]["extends"]], **template[name]}
    return "\n".join([*job["before_script"], *job["script"]])


class Done(msgspec.Struct, frozen=True):
    """What a script said, and how it ended."""

    code: int
    out: str


class Job:
    """One run of a job: a clone, a folder for temporary files, what steps have left."""

    def __init__(self, clone: Path, place: Path, said: Mapping[str, str]) -> None:
        self.clone = clone
        self.temp = place / "temp"
        self.temp.mkdir()
        self.files = {name: self.temp / name for name in ("output", "path", "summary")}
        for file in self.files.values():
            file.touch()
        self._environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(place),
            "PIP_NO_INDEX": "1",
            "GITCFG_TODAY": "2026-01-01",
            **said,
        }

    def run(self, script: str, said: Mapping[str, str]) -> Done:
        """As GitHub's runner and GitLab's run bash: it ends at the first mistake."""
        file = self.temp / "script"
        file.write_text(script)
        path = ":".join([*self.files["path"].read_text().split(), self._environment["PATH"]])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(file)],
            cwd=self.clone,
            env={**self._environment, "PATH": path, **said},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout.decode())

    @property
    def summary(self) -> str:
        return self.files["summary"].read_text()


class Workflow:
    """The steps of GitHub's or Forgejo's YAML, with what contexts hold."""

    def __init__(self, job: Job, steps: list[dict[str, Any]], contexts: Mapping[str, str]) -> None:
        self.job = job
        self._steps = steps
        self._contexts = dict(contexts)
        self.done: dict[str, Done] = {}

    def run(self) -> bool:
        """Every step whose condition holds. Has none failed?"""
        runner = {
            "RUNNER_TEMP": str(self.job.temp),
            "GITHUB_OUTPUT": str(self.job.files["output"]),
            "GITHUB_PATH": str(self.job.files["path"]),
            "GITHUB_STEP_SUMMARY": str(self.job.files["summary"]),
            "GITHUB_ACTION_PATH": str(CI / "github"),
        }
        good = True
        for step in self._steps:
            if "run" not in step or not self._holds(str(step.get("if", "")), good):
                continue
            said = {name: self._filled(str(value)) for name, value in step.get("env", {}).items()}
            assert step["shell"] == "bash"
            done = self.done[step["name"]] = self.job.run(step["run"], {**runner, **said})
            good = good and done.code == 0
            outcome = "success" if done.code == 0 else "failure"
            self._contexts[f"steps.{step.get('id')}.outcome"] = outcome
        return good

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._contexts[found[1]], text)

    def _holds(self, condition: str, good: bool) -> bool:
        """The few conditions that the files use; without a word on failures, a step needs all to be well."""
        text = _EXPRESSION.sub(r"\1", condition)
        always = "always()" in text or "cancelled()" in text
        text = text.replace("!cancelled()", "True").replace("always()", "True").replace("&&", "and")
        text = _CONTEXT.sub(lambda found: repr(self._contexts.get(found[0], "")), text)
        return (good or always) and bool(eval(text or "True", {"__builtins__": {}}))


def wheel(folder: Path) -> Path:
    """What pip installs in a job: this work tree and its libraries, without an index."""
    file = folder / "gitcfg-0-py3-none-any.whl"
    about = "gitcfg-0.dist-info"
    texts = {
        "gitcfg.pth": f"{ROOT}\n{sysconfig.get_path('purelib')}\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: gitcfg\nVersion: 0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\ngitcfg = gitcfg.cli.main:main\n",
    }
    record = "".join(f"{name},,\n" for name in (*texts, f"{about}/RECORD"))
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in {**texts, f"{about}/RECORD": record}.items():
            packed.writestr(name, text)
    return file

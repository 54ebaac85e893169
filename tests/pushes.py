"""A push of one version after another, judged by the rules as they were before it."""

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from gitcfg.gate.permits.judge import check_range
from gitcfg.git.commit import commit_versions
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree
from gitcfg.model import Finding


def check_pushed(before: DictTree, now: DictTree, who: str) -> tuple[Finding, ...]:
    """Return what somebody may not change who pushes all that differs."""
    with TemporaryDirectory() as folder:
        commit_versions(Path(folder), [before.files, now.files])
        repository = Repository.open(folder)
        old, new = (str(repository.commit(revision).id) for revision in ("HEAD~1", "HEAD"))
        return check_range(repository, (old, new), (), who, datetime.now(UTC)).get(new, ())

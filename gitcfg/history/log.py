"""The log of a thing: the commits that changed its result, worked out or remembered."""

from contextlib import closing
from itertools import islice

import msgspec

from gitcfg.cache import Cache
from gitcfg.git.history import Commit, History
from gitcfg.git.repository import Repository
from gitcfg.history.effect import Effect, Step
from gitcfg.history.question import Question, Subject
from gitcfg.model import GitcfgError


class Entry(msgspec.Struct, frozen=True):
    """A commit that changed the result, and what of it compared to its first parent."""

    commit: Commit
    effect: Effect


class Log(msgspec.Struct, frozen=True):
    """What a question is answered from a commit on: entries, newest first."""

    tip: str
    question: Question
    entries: tuple[Entry, ...]


class _Answer(msgspec.Struct, frozen=True):
    """What is remembered of a question: the steps of a commit and all before it."""

    tip: str
    steps: tuple[Step, ...]


class _Kinds(msgspec.Struct, frozen=True):
    """What is remembered of a name: what kinds of things it is."""

    tip: str
    kinds: tuple[Subject, ...]


class Logs:
    """Logs of things in a repository from a commit on; what is worked out is remembered in a cache.

    GitcfgError: there is no such revision.
    """

    def __init__(self, repository: Repository, revision: str = "HEAD", cache: Cache | None = None) -> None:
        if revision == "HEAD" and repository.git is not None and not repository.knows(revision):
            raise GitcfgError("Nothing is committed yet, so there is no history.", "Commit, and ask again.")
        self.repository = repository
        self.tip = repository.at(revision).commit or ""
        self._history = History(repository)
        # Where a clone is cut off things seem to begin, and that is not to be remembered.
        self._cache = None if self._history.shallow else cache

    def log(self, question: Question, limit: int | None = None) -> Log:
        """The commits whose result is another than the result of each of their parents, newest first.

        The first commit of all is one of them if the thing is there. `limit` is how many at most.
        """
        steps = self._steps(question, limit)
        return Log(self.tip, question, tuple(Entry(self._history.about(s.commit), s.effect) for s in steps))

    def kinds(self, name: str) -> tuple[Subject, ...]:
        """The kinds of things that a name is, or else of those that it ever was."""
        key = self._key("kinds", name)
        kept = self._cache.get(key, _Kinds) if self._cache else None
        if kept is not None and kept.tip == self.tip:
            return kept.kinds
        from gitcfg.history.names import ever, known

        now = known(self.repository.at(self.tip))
        kinds = tuple(kind for kind in Subject if name in now[kind]) or ever(self._history, self.tip, name)
        if self._cache and kinds:
            self._cache.put(key, _Kinds(self.tip, kinds))
        return kinds

    def _steps(self, question: Question, limit: int | None) -> tuple[Step, ...]:
        key = self._key(*msgspec.structs.astuple(question))
        kept = self._cache.get(key, _Answer) if self._cache else None
        if kept is not None and kept.tip == self.tip:
            return kept.steps[:limit]
        base = kept if kept is not None and self._history.has(kept.tip) else None
        from gitcfg.history.walk import steps

        with closing(steps(self._history, question, self.tip, base.tip if base else None)) as fresh:
            if limit is not None and base is None:
                return tuple(islice(fresh, limit))
            found = {step.commit: step for step in (*fresh, *(base.steps if base else ()))}
        answer = tuple(found[commit] for commit in self._history.walk(self.tip) if commit in found)
        if self._cache and not (base and self._history.includes(base.tip, self.tip)):
            self._cache.put(key, _Answer(self.tip, answer))
        return answer[:limit]

    def _key(self, *words: str | None) -> str:
        return msgspec.json.encode((self.repository.prefix, *words)).decode()

"""What keeps answers to questions, and where nothing can be kept, what keeps none."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository

T = TypeVar("T")


class Cache(Protocol):
    """Answers by question. A question names all that its answer depends on, and the answer's form."""

    def get(self, question: str, kind: type[T]) -> T | None:
        """The answer kept for a question; None if there is none.

        What `msgspec.Raw` and memoryview stand for in it is not copied.
        """
        ...

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer, whatever msgspec encodes, in place of an older one to the same question."""
        ...


class Draft(Cache, Protocol):
    """A cache that forgets what it is given, unless it is told to keep it."""

    def spill(self) -> None:
        """Keep what was found out: whoever asks next goes on from there."""
        ...


class NoCache:
    """A cache that keeps nothing."""

    def spill(self) -> None:
        pass

    def get(self, question: str, kind: type[T]) -> T | None:
        return None

    def put(self, question: str, answer: Any) -> None:
        pass


def cache_of(repository: "Repository", user: int) -> Cache:
    """What `user` keeps of a repository: one cache for all its work trees, none where there is no git."""
    if repository.shared is None:
        return NoCache()
    from gitcfg.cache.folder import FolderCache

    return FolderCache(repository.shared / "gitcfg", user)


def only_read(repository: "Repository", user: int) -> Draft:
    """The same where nothing may be written: what is found out is forgotten in the end."""
    if repository.shared is None:
        return NoCache()
    from gitcfg.cache.folder import FolderCache
    from gitcfg.cache.scratch import Scratch

    return Scratch(FolderCache(repository.shared / "gitcfg", user, notes=False))

"""Semantic GitOps for fleets: `gitcfg.open("pool").at("main")` is every node's configuration."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Node, compare, in_memory, open

__version__ = "0.1.0"
__all__ = ["Fleet", "Node", "__version__", "compare", "in_memory", "open"]


def __getattr__(name: str) -> Any:
    """The library is imported when it is first used: `gitcfg --version` must not wait for it."""
    if name in __all__:
        from gitcfg import library

        return getattr(library, name)
    raise AttributeError(name)

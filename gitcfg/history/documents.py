"""Single files of a repository as definitions, each read once for a path and a content."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache, partial
from typing import Any

from gitcfg.git.tree import DictTree
from gitcfg.load.allocations import ALLOCATIONS
from gitcfg.load.features import load_features, load_groups
from gitcfg.load.nodes import load_nodes
from gitcfg.load.nodesets import load_nodesets
from gitcfg.load.overrides import load_overrides
from gitcfg.load.parameters import load_parameters
from gitcfg.load.reading import Reading
from gitcfg.load.root import FILE
from gitcfg.load.rules import RULES
from gitcfg.load.secrets import load_secrets
from gitcfg.load.settings import load_settings
from gitcfg.load.sheets import gathered
from gitcfg.load.shelf import taken
from gitcfg.model import Origin, Parameter, Secret, Settings

_MOST = 1 << 13
_Content = Callable[[bytes], bytes]
_Loader = Callable[[Reading, Settings], Mapping[str, Any]]
_LOADERS: Mapping[str, _Loader] = {
    "features": lambda reading, settings: load_features(reading),
    "groups": lambda reading, settings: load_groups(reading),
    "nodes": load_nodes,
    "nodesets": load_nodesets,
    "overrides": load_overrides,
    "allocations": lambda reading, settings: taken(reading, ALLOCATIONS),
    "rules": lambda reading, settings: {"": tuple(gathered(reading, RULES).values())},
}
"""Rules, of which there are many in a file, are defined together."""


class Documents:
    """Reads files with the loader itself, as if each stood alone in its tree; `content` gives their bytes."""

    def __init__(self, content: _Content) -> None:
        self.definition = lru_cache(maxsize=_MOST)(partial(_definition, content))
        self.parameters = lru_cache(maxsize=_MOST)(partial(_parameters, content))
        self.secrets = lru_cache(maxsize=_MOST)(partial(_secrets, content))
        self.settings = lru_cache(maxsize=_MOST)(partial(_settings, content))

    def outlined(self, outline: Callable[[Any], Any]) -> "Documents":
        """The same documents, of whose definitions only an outline is given."""
        result = copy(self)
        result.definition = lru_cache(maxsize=_MOST)(partial(_outlined, self.definition, outline))
        return result


def _definition(content: _Content, path: str, file: bytes, settings: Settings) -> Any:
    """What a file of a kind's folder defines; None where its name is not legal."""
    found = _LOADERS[path.partition("/")[0]](_reading(content, path, file), settings)
    return next(iter(found.values()), None)


def _outlined(
    definition: Callable[..., Any], outline: Callable[[Any], Any], path: str, file: bytes, settings: Settings
) -> Any:
    found = definition(path, file, settings)
    return outline(found) if found is not None else None


def _parameters(content: _Content, path: str, file: bytes) -> Mapping[str, Parameter]:
    """What a file of parameters declares."""
    return load_parameters(_reading(content, path, file))


def _secrets(content: _Content, path: str, file: bytes) -> Mapping[str, Secret]:
    """What a file of secrets/ says."""
    return load_secrets(_reading(content, path, file))


def _settings(content: _Content, file: bytes) -> Settings | None:
    """What of the settings matters here; None where the format is not one that this program reads."""
    found = load_settings(_reading(content, FILE, file))
    if found is None:
        return None
    return Settings(
        Origin(FILE),
        default_group=found.default_group,
        max_nodes=found.max_nodes,
        max_places=found.max_places,
    )


def _reading(content: _Content, path: str, file: bytes) -> Reading:
    return Reading(DictTree({path: content(file)}))

"""Single files of a repository as definitions, each read once for a path and a content."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from gitcfg.git.tree import DictTree
from gitcfg.load.features import load_features, load_groups
from gitcfg.load.nodes import load_nodes
from gitcfg.load.nodesets import load_nodesets
from gitcfg.load.overrides import load_overrides
from gitcfg.load.parameters import load_parameters
from gitcfg.load.reading import Reading
from gitcfg.load.root import FILE
from gitcfg.load.settings import load_settings
from gitcfg.model import Origin, Parameter, Settings

_MOST = 1 << 13
_Loader = Callable[[Reading, Settings], Mapping[str, Any]]
_LOADERS: Mapping[str, _Loader] = {
    "features": lambda reading, settings: load_features(reading),
    "groups": lambda reading, settings: load_groups(reading),
    "nodes": load_nodes,
    "nodesets": load_nodesets,
    "overrides": load_overrides,
}


class Documents:
    """Reads files with the loader itself, as if each stood alone in its tree; `content` gives their bytes."""

    def __init__(self, content: Callable[[bytes], bytes]) -> None:
        self._content = content
        self.definition = lru_cache(maxsize=_MOST)(self._definition)
        self.parameters = lru_cache(maxsize=_MOST)(self._parameters)
        self.settings = lru_cache(maxsize=_MOST)(self._settings)

    def outlined(self, outline: Callable[[Any], Any]) -> "Documents":
        """The same documents, of whose definitions only an outline is given."""
        return _Outlined(self, outline)

    def _definition(self, path: str, file: bytes, settings: Settings) -> Any:
        """What a file of a kind's folder defines; None where its name is not legal."""
        found = _LOADERS[path.partition("/")[0]](self._reading(path, file), settings)
        return next(iter(found.values()), None)

    def _parameters(self, path: str, file: bytes) -> Mapping[str, Parameter]:
        """What a file of parameters declares."""
        return load_parameters(self._reading(path, file))

    def _settings(self, file: bytes) -> Settings | None:
        """What of the settings matters here; None where the format is not one that this program reads."""
        found = load_settings(self._reading(FILE, file))
        if found is None:
            return None
        return Settings(Origin(FILE), default_group=found.default_group, max_nodes=found.max_nodes)

    def _reading(self, path: str, file: bytes) -> Reading:
        return Reading(DictTree({path: self._content(file)}))


class _Outlined(Documents):
    """Documents of which not everything is of interest."""

    def __init__(self, whole: Documents, outline: Callable[[Any], Any]) -> None:
        super().__init__(whole._content)
        self._whole = whole
        self._outline = outline
        self.parameters, self.settings = whole.parameters, whole.settings

    def _definition(self, path: str, file: bytes, settings: Settings) -> Any:
        found = self._whole.definition(path, file, settings)
        return self._outline(found) if found is not None else None

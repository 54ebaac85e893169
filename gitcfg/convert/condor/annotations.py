"""What comments that begin with `gitcfg:` say, and the features that they have named so far."""

from gitcfg.convert.condor.host import Relations
from gitcfg.model.names import NAME


class Annotations:
    """The feature that settings belong to now (empty: none), all features, and is the next a default?"""

    def __init__(self) -> None:
        self.feature = ""
        self.default = False
        self.features: dict[str, Relations] = {}

    def apply(self, text: str) -> bool:
        """Heed one. False: it says nothing."""
        word, _, rest = text.partition(" ")
        names = tuple(name for name in (part.strip() for part in rest.split(",")) if name)
        if not all(map(NAME.fullmatch, names)):
            return False
        match word:
            case "default" if not names:
                self.default = True
            case "feature" if len(names) <= 1:
                self._begin("".join(names))
            case "includes" | "depends" if self.feature and names:
                self._relate(word, names)
            case _:
                return False
        return True

    def _begin(self, name: str) -> None:
        self.feature = name
        if name:
            self.features.setdefault(name, Relations())

    def _relate(self, word: str, names: tuple[str, ...]) -> None:
        known = self.features[self.feature]
        if word == "includes":
            relations = Relations((*known.includes, *names), known.depends)
        else:
            relations = Relations(known.includes, (*known.depends, *names))
        self.features[self.feature] = relations

    def for_knob(self) -> "Annotations":
        """Those of a knob: its settings belong to the feature that is named where it is used."""
        result = Annotations()
        result.feature = self.feature
        return result

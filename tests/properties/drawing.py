"""What the parts of a random repository have in common: the names and operations that they draw."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.properties.documents import mapping
from tests.properties.sources import FACTS, SCALARS, bindings
from tests.properties.universe import FEATURES, GONE, INSTANCED, KINDS, OUTER, SECRETS


class Drawing:
    """One repository in the making."""

    def __init__(self, draw: DrawFn, wild: bool) -> None:
        self.draw = draw
        self.wild = wild
        self.params = draw(st.lists(st.sampled_from(tuple(KINDS)), min_size=1, max_size=4, unique=True))
        self.needed: set[str] = set()
        """Features that others depend on: no node of a valid repository does without them."""

    def names(self, known: Iterable[str], most: int = 3) -> list[str]:
        """Different names, in a wild repository also one that does not exist."""
        choice = (*known, *([GONE] if self.wild else []))
        if not choice:
            return []
        return self.draw(st.lists(st.sampled_from(choice), max_size=most, unique=True))

    def bindings(self) -> str:
        """A layer's `params`."""
        names = self.draw(st.lists(st.sampled_from(self.params), max_size=3, unique=True))
        return mapping({name: self._binding(KINDS[name]) for name in names})

    def _binding(self, kind: str) -> str:
        astray = self.wild and kind not in ("any", "undeclared") and self.draw(st.integers(0, 9)) == 9
        if self.wild and self.draw(st.integers(0, 5)) == 5:
            return f"{{$secret: {self.draw(st.sampled_from((*SECRETS, GONE)))}}}"
        return self.draw(bindings(self.draw(st.sampled_from(tuple(SCALARS))) if astray else kind))

    def uses(self, known: Sequence[str] = FEATURES) -> list[str]:
        """A list of features: plain names, and instances now and then."""
        plain = self.names(known)
        instanced = self.draw(st.sampled_from(((), (), (INSTANCED,), (OUTER,), (INSTANCED, OUTER))))
        return self.draw(st.permutations([*plain, *map(self._instance, instanced)]))

    def _instance(self, feature: str) -> str:
        name = self.draw(st.sampled_from(('"x"', '"x[1-2]"', '"y[08-09]"')))
        attribute = self.draw(st.sampled_from(("a", "017", '"$${as}"', '"b c"')))
        return f"{{feature: {feature}, as: {name}, with: {{v: {attribute}}}}}"

    def without(self) -> list[str]:
        """Features to do without."""
        return self.names([name for name in FEATURES if name not in self.needed], 1)

    def facts(self) -> str:
        """Every fact, or some, not all of the type that is wanted."""
        if not self.wild:
            return mapping(FACTS)
        known = st.sampled_from(tuple(FACTS))
        return mapping({key: FACTS[self.draw(known)] for key in self.draw(st.lists(known, unique=True))})

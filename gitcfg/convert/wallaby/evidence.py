"""What a whole dump says of each parameter: its declaration and every value, with the places."""

from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.convert.wallaby.identity import find_identities
from gitcfg.convert.wallaby.markers import MarkedValue, Marker, has_default, read_setting
from gitcfg.convert.wallaby.names import Names
from gitcfg.convert.wallaby.store import Node, Parameter, Setting, Store
from gitcfg.model.names import shown


class Use(msgspec.Struct, frozen=True):
    """One setting of a parameter, and where it is."""

    given: MarkedValue
    place: str


class Evidence(msgspec.Struct, frozen=True):
    """One parameter of the dump; without a declaration it is only set."""

    name: str
    declaration: Parameter | None
    uses: tuple[Use, ...]

    def marked(self, *markers: Marker) -> bool:
        """Is one of these used on it?"""
        return any(use.given.marker in markers for use in self.uses)

    @property
    def default(self) -> str:
        """The default that is carried over, empty if there is none."""
        return self.declaration.default if self.declaration and has_default(self.declaration) else ""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every text that a value of it is or is made of, with its place."""
        if self.default:
            yield self.default, "default_val"
        for use in self.uses:
            if use.given.text:
                yield use.given.text, use.place


def gather_evidence(store: Store, names: Names) -> Mapping[str, Evidence]:
    """Each parameter's evidence by its name in the repository, in order of name."""
    declared = {names.parameters.get(parameter.name.casefold()): parameter for parameter in store.parameters}
    uses: dict[str, list[Use]] = {name: [] for name in names.parameters.values()}
    for place, name, setting in _settings(store):
        spelt = names.parameter(name)
        if spelt is not None:
            uses[spelt].append(Use(read_setting(setting, declared.get(spelt)), place))
    return {name: Evidence(name, declared.get(name), tuple(uses[name])) for name in sorted(uses)}


def _settings(store: Store) -> Iterator[tuple[str, str, Setting]]:
    for feature in store.features:
        for name, setting in feature.params.items():
            yield f"feature {shown(feature.name)}", name, setting
    owners = find_identities(store)
    for group in store.groups:
        place = _describe_group(group.name, owners)
        for name, setting in group.params.items():
            yield place, name, setting


def _describe_group(group: str, owners: Mapping[str, Node]) -> str:
    owner = owners.get(group)
    return f"node {shown(owner.name)}" if owner else f"group {shown(group)}"

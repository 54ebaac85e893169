"""Rules across nodes, and the allocations that were decided for them."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from gitcfg.model.bindings import Binding
from gitcfg.model.findings import Origin, Ref


class RuleKind(StrEnum):
    """The kind of a rule: the one key that determines what it does."""

    INSTALL = "install"
    LIMIT = "limit"
    SET = "set"
    DOMAIN = "domain"
    REQUIRE = "require"
    FORBID = "forbid"
    ALLOW = "allow"


class Count(msgspec.Struct, frozen=True, gc=False):
    """A number of nodes or instances: at least and at most. `most` is None where there is no upper limit."""

    least: int
    most: int | None
    origin: Origin

    def __str__(self) -> str:
        """Return it in words that `of something` can follow."""
        if self.most is None:
            return f"at least {self.least}"
        if self.least == self.most:
            return str(self.least) if self.least else "none"
        return f"{self.least} to {self.most}" if self.least else f"at most {self.most}"


class Domain(msgspec.Struct, frozen=True, gc=False):
    """The values that a parameter may have, or (in a rule `over` instances) an attribute of them.

    `items` are values and ranges as written, `places` their places.
    """

    name: str
    items: tuple[int | str, ...]
    origin: Origin
    places: tuple[Origin, ...]


class Uniqueness(msgspec.Struct, frozen=True, gc=False):
    """The scope in which values are unique: `fleet`, `node`, or `key` (nodes with an equal CEL `key`)."""

    scope: str
    key: Ref | None = None


PERMITTED = ("features", "params", "groups", "nodes", "files", "subsystems", "templates", "secrets", "rules")
"""The kinds of things whose changes `forbid` and `allow` control."""


class Permit(msgspec.Struct, frozen=True, gc=False):
    """Who may or may not change what: names and globs.

    `inherit`: what depends on the named features counts as named too: features that include them, their
    subsystems, and what these read.
    """

    by: tuple[Ref, ...]
    features: tuple[Ref, ...] = ()
    params: tuple[Ref, ...] = ()
    groups: tuple[Ref, ...] = ()
    nodes: tuple[Ref, ...] = ()
    files: tuple[Ref, ...] = ()
    subsystems: tuple[Ref, ...] = ()
    templates: tuple[Ref, ...] = ()
    secrets: tuple[Ref, ...] = ()
    rules: tuple[Ref, ...] = ()
    inherit: bool = True

    def things(self) -> Mapping[str, tuple[Ref, ...]]:
        """Return the things that it names, by kind."""
        return {kind: getattr(self, kind) for kind in PERMITTED}


class Rule(msgspec.Struct, frozen=True, gc=False):
    """What must hold for the fleet. `feature` is installed or limited; conditions are CEL.

    Of the fields for single kinds (`feature`, `params`, `domains` and `unique`, `require` and `message`,
    `permit`) a rule has only those of its own kind. With `over`, it counts that feature's instances, not
    nodes.
    """

    name: str
    origin: Origin
    kind: RuleKind
    description: str = ""
    feature: Ref | None = None
    params: Mapping[str, Binding] = {}
    domains: Mapping[str, Domain] = {}
    unique: Uniqueness | None = None
    require: Ref | None = None
    message: str = ""
    permit: Permit | None = None
    where: Ref | None = None
    over: Ref | None = None
    per: Ref | None = None
    count: Count | None = None

    def features(self) -> tuple[Ref, ...]:
        """Return the features that it names, without globs."""
        from gitcfg.model.names import is_glob  # the import takes 0.6 ms, which every command would wait for

        permitted = self.permit.features if self.permit is not None else ()
        single = (ref for ref in (self.feature, self.over) if ref is not None)
        return (*single, *(ref for ref in permitted if not is_glob(ref.name)))


class Allocation(msgspec.Struct, frozen=True, gc=False):
    """The decision of `gitcfg solve` for the rule of the same name.

    A slot is `NODE` or `NODE/INSTANCE`: where a feature is installed, or which node or instance has which
    values.
    """

    name: str
    origin: Origin
    install: tuple[Ref, ...] = ()
    values: Mapping[str, Mapping[str, Binding]] = {}

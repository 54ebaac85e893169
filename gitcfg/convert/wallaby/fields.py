"""The fields of a dump's objects, read strictly: one that is missing means a file cut short."""

from collections.abc import Iterator

from gitcfg.convert.wallaby.store import Setting
from gitcfg.convert.wallaby.tree import Items, Table, Text, Value, resolve_plain, value_error
from gitcfg.model.names import shown

_FLAGS = {"true": True, "false": False}


class Fields:
    """One object's fields: `left` are those not read yet, `trimmed` those with blanks around a name."""

    def __init__(self, value: Value, noun: str) -> None:
        if not isinstance(value, Table):
            raise value_error(value, f"a {noun} is not a mapping")
        self.table = value
        self.noun = noun
        self.left = dict(value.entries)
        self.trimmed: list[str] = []

    def take(self, key: str) -> Value:
        """A field that has to be there."""
        if key not in self.table.entries:
            raise value_error(self.table, f"the {self.called()} has no `{key}`, as if it were cut short")
        self.left.pop(key, None)
        return self.table.entries[key]

    def called(self) -> str:
        """What messages call the object."""
        name = self.table.entries.get("name")
        return f"{self.noun} {shown(name.text)}" if isinstance(name, Text) else self.noun

    def wrong(self, value: Value, key: str, wanted: str) -> Exception:
        """The error of a field that is not what it should be."""
        return value_error(value, f"`{key}` of the {self.called()} is not {wanted}")

    def text(self, key: str) -> str:
        """A field of text; null is empty text."""
        value = self.take(key)
        if not isinstance(value, Text):
            raise self.wrong(value, key, "text")
        return "" if value.absent else value.text

    def name(self) -> str:
        """The object's name."""
        name = self._trim(self.text("name"), "name")
        if not name:
            raise value_error(self.table, f"a {self.noun} has an empty name")
        return name

    def optional(self, key: str) -> str:
        """A field of text that older dumps do not have."""
        return self.text(key) if key in self.table.entries else ""

    def flag(self, key: str) -> bool:
        """A field that is true or false."""
        value = self.take(key)
        if not isinstance(value, Text) or value.text.lower() not in _FLAGS:
            raise self.wrong(value, key, "true or false")
        return _FLAGS[value.text.lower()]

    def number(self, key: str) -> int:
        """A field that is an integer."""
        value = self.take(key)
        number = resolve_plain(value) if isinstance(value, Text) else None
        if isinstance(number, bool) or not isinstance(number, int):
            raise self.wrong(value, key, "an integer")
        return number

    def items(self, key: str) -> tuple[Value, ...]:
        """A field that is a list."""
        value = self.take(key)
        if not isinstance(value, Items):
            raise self.wrong(value, key, "a list")
        return value.items

    def names(self, key: str) -> tuple[str, ...]:
        """A field that is a list of names."""
        return tuple(self._names(key))

    def _names(self, key: str) -> Iterator[str]:
        for item in self.items(key):
            if not isinstance(item, Text) or item.absent:
                raise self.wrong(item, key, "a list of names")
            yield self._trim(item.text, key)

    def settings(self, key: str) -> dict[str, Setting]:
        """A field that says what parameters are set to."""
        value = self.take(key)
        if not isinstance(value, Table):
            raise self.wrong(value, key, "a mapping of parameters")
        found = {name: self._setting(key, given) for name, given in value.entries.items()}
        result = {name: setting for name, setting in found.items() if name == name.strip()}
        for name, setting in found.items():
            if name.strip() not in result:
                result[self._trim(name, f"{key}.{name.strip()}")] = setting
            else:
                result[name] = setting
        return result

    def _trim(self, name: str, field: str) -> str:
        """A name without the blanks around it, which HTCondor takes off, too."""
        trimmed = name.strip()
        if trimmed != name:
            self.trimmed.append(field)
        return trimmed

    def _setting(self, key: str, value: Value) -> Setting:
        if not isinstance(value, Text):
            raise self.wrong(value, key, "a mapping of parameters to text")
        if value.absent:
            return Setting("")
        number = resolve_plain(value) if value.plain else None
        is_zero = isinstance(number, int) and not isinstance(number, bool) and number == 0
        return Setting(None if is_zero else value.text)

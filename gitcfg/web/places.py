"""Where files and lines of the repository can be read: at a forge, or else on a page of the server."""

from urllib.parse import quote

import msgspec

from gitcfg.model import Origin

_SCHEMES = ("https://", "http://")
_WORDS = ("{commit}", "{file}", "{line}")


class Places(msgspec.Struct, frozen=True):
    """Links at a commit. `forge` is an address with {commit}, {file} and {line} in it; "": there is none.

    `prefix` is where the repository's folder is in git's tree.
    """

    commit: str = ""
    forge: str = ""
    prefix: str = ""

    def of(self, origin: Origin) -> str:
        """The address of a line."""
        if not self.forge:
            return f"/commits/{quote(self.commit)}/files/{quote(origin.file)}#L{origin.line}"
        file = f"{self.prefix}/{origin.file}" if self.prefix else origin.file
        values = (self.commit, quote(file), str(origin.line))
        address = self.forge
        for word, value in zip(_WORDS, values, strict=True):
            address = address.replace(word, value)
        return address


def forge(said: str | None) -> str:
    """A forge's address as git's configuration says it (`gitcfg.url`); "": it says none that can be used."""
    text = said or ""
    whole = text.startswith(_SCHEMES) and all(word in text for word in _WORDS[:2])
    return text if whole and text.isprintable() and not set(text) & set(" \"'<>") else ""

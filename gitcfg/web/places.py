"""Links to files and lines of the repository: at a forge, or else on a page of the server."""

from urllib.parse import quote

import msgspec

from gitcfg.model import Origin

_SCHEMES = ("https://", "http://")
_PLACEHOLDERS = ("{commit}", "{file}", "{line}")


class SourceLinks(msgspec.Struct, frozen=True):
    """Links to files at a commit. `forge` is a URL with {commit}, {file} and {line} in it, or "".

    `prefix` is where the repository's folder is in git's tree.
    """

    commit: str = ""
    forge: str = ""
    prefix: str = ""

    def of(self, origin: Origin) -> str:
        """Return the URL of a line."""
        if not self.forge:
            return f"/commits/{quote(self.commit)}/files/{quote(origin.file)}#L{origin.line}"
        file = f"{self.prefix}/{origin.file}" if self.prefix else origin.file
        values = (self.commit, quote(file), str(origin.line))
        address = self.forge
        for word, value in zip(_PLACEHOLDERS, values, strict=True):
            address = address.replace(word, value)
        return address


def parse_forge(said: str | None) -> str:
    """Return a forge's URL from git's configuration (`gitcfg.url`); "" if it cannot be used."""
    text = said or ""
    whole = text.startswith(_SCHEMES) and all(word in text for word in _PLACEHOLDERS[:2])
    return text if whole and text.isprintable() and not set(text) & set(" \"'<>") else ""

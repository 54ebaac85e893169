"""Pages as a browser reads them: what is open is closed, and nothing in them runs."""

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img", "br", "hr"}
HEADINGS = {"h1", "h2", "h3"}
ADDRESSES = {"href", "src", "action", "formaction"}


class Read(HTMLParser):
    """A page that was read. AssertionError: it is not whole, or something in it could run."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        assert len(said) == len(attrs), f"{tag} says something twice: {attrs}"
        self.tags.append((tag, said))
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} {name}"
            assert name != "style", f"{tag} has a style of its own"
            if name in ADDRESSES:
                assert not _runs(value or ""), f"{tag} {name}={value}"
        if tag == "script":
            assert (said.get("src") or "").startswith("/assets/")
        assert tag not in ("style", "iframe", "object", "embed", "base"), tag
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            assert not data.strip()
        self.said.append(data)

    @property
    def text(self) -> str:
        """What one reads, blanks as one."""
        return " ".join("".join(self.said).split())

    @property
    def ids(self) -> list[str]:
        """All ids, as often as they are there."""
        return [said["id"] or "" for _, said in self.tags if "id" in said]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """What tags of a name say."""
        return [said for name, said in self.tags if name == tag]


def _runs(address: str) -> bool:
    scheme = address.partition(":")[0].strip().lower() if ":" in address.partition("/")[0] else ""
    return scheme not in ("", "http", "https")


def accessible(read: Read) -> None:
    """Can it be used without eyes or mouse? AssertionError: no."""
    assert len(read.all("h1")) == 1
    assert read.all("html")[0]["lang"] == "en"
    assert any(said.get("class") == "skip" and said["href"] == "#main" for said in read.all("a"))
    assert len(read.ids) == len(set(read.ids)), sorted(read.ids)
    for said in read.all("th"):
        assert said.get("scope") in ("col", "row")
    labelled = {said.get("for") for said in read.all("label")}
    for said in read.all("input"):
        if said.get("type") not in ("hidden", None):
            assert said.get("id") in labelled or _inside_label(read, said), said
    for said in read.all("img"):
        assert "alt" in said
    for name, said in read.tags:
        if "aria-labelledby" in said:
            assert said["aria-labelledby"] in read.ids, (name, said)


def _inside_label(read: Read, said: dict[str, str | None]) -> bool:
    """Does the input come right after a label that has no `for`?"""
    at = next(number for number, (_, other) in enumerate(read.tags) if other is said)
    return read.tags[at - 1][0] == "label"

"""GC101, GC208, GC209, GC213: templates, file entries and commands, whoever gets them: what no node should
take, and merges that nobody resolved."""

import posixpath
import re
from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.check.places import files
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.git.tree import EntryKind
from gitcfg.install.policy import is_own, stops_agent
from gitcfg.load.conflicts import conflicts, left_over, unresolved
from gitcfg.load.document import MAX_BYTES, read_again
from gitcfg.model import FileEntry, Finding, Origin, Severity, Subsystem
from gitcfg.model.folders import SIGNERS
from gitcfg.model.names import did_you_mean, shown
from gitcfg.render.files import content
from gitcfg.render.formats import formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_FORBIDDEN = ("/proc", "/sys", "/dev")
_CONTROL = "What gitcfg itself needs on a node is put there by hand, so that no commit cuts it off."
_OWN = ".gitcfg-"
_MOST_NAME, _MOST_PATH, _MOST_NAMES = 240, 4000, 100
_MODE = re.compile(r"0?[0-7]{3}")


def entries(fleet: Fleet, engine: TemplateEngine) -> Iterator[Finding]:
    """What is wrong with file entries and templates."""
    for entry in files(fleet.model):
        yield from _entry(fleet, entry)
    for subsystem in fleet.model.subsystems.values():
        yield from _commands(fleet, subsystem)
    for name in sorted(fleet.model.templates - fleet.templates.keys()):
        message = f"The template {shown(name)} is no UTF-8 text of at most 4 MiB."
        yield of("GC208", name, message, [Origin(f"templates/{name}")])
    broken = set()
    yield from _unresolved(fleet)
    for name, text in fleet.templates.items():
        for finding in _merging(f"templates/{name}", text) or _template(fleet, engine, name):
            broken.add(name)
            yield finding
    yield from _failing(fleet, engine, broken)


def _entry(fleet: Fleet, entry: FileEntry) -> Iterator[Finding]:
    path = shown(entry.path)
    for reason, hint in (*_contents(fleet, entry), *_path(entry.path), *_mode(entry)):
        yield of("GC209", entry.path, f"The file entry {path} {reason}.", [entry.origin], hint=hint)


def _contents(fleet: Fleet, entry: FileEntry) -> Iterator[tuple[str, str]]:
    said = entry.contents
    takes = bool(entry.params or entry.tags)
    if len(said) != 1:
        have = "has no content" if not said else f"has {len(said)} contents: {', '.join(said)}"
        yield have, "Write one of format, template, text or source."
    elif entry.format is not None and entry.format not in formats():
        yield f"has an unknown format {shown(entry.format)}", did_you_mean(entry.format, formats())
    elif (entry.format is None) == takes:
        lacks = "takes no parameters" if entry.format else "takes parameters but has no format"
        yield lacks, 'Write `params: ["*"]` beside the format to take all of them.'
    if entry.source is not None and fleet.sources.get(entry.source.name, "") is None:
        yield f"takes files/{shown(entry.source.name)}, which is no UTF-8 text of at most 4 MiB", ""


def _path(path: str) -> Iterator[tuple[str, str]]:
    normal = posixpath.normpath(path) if path.startswith("/") else ""
    if not path.startswith("/"):
        yield "has no absolute path", "Begin it with /."
    elif not path.isprintable():
        yield "has a path with characters that cannot be printed", ""
    elif normal.replace("//", "/", 1) != path or path == "/":
        yield "has no normal path", f"Write {normal.replace('//', '/', 1)}." if normal != "/" else ""
    else:
        yield from _beyond(path)
    if is_own(normal):
        yield "is gitcfg's own on nodes, which refuse it", _CONTROL
    if any((normal + "/").startswith(f"{folder}/") for folder in _FORBIDDEN):
        yield "leads where no files belong", "Nothing can be put under /proc, /sys or /dev."


def _beyond(path: str) -> Iterator[tuple[str, str]]:
    """What every node refuses: there must be room beside a file for another name of it."""
    names = path.split("/")[1:]
    if any(name.startswith(_OWN) for name in names):
        yield (
            f"has a name that begins with {_OWN}",
            "Files that gitcfg itself needs for a moment are called so.",
        )
    longest = max(len(name.encode()) for name in names)
    if longest > _MOST_NAME or len(path.encode()) > _MOST_PATH or len(names) > _MOST_NAMES:
        most = f"{_MOST_NAME} bytes in a name, {_MOST_PATH} in all, {_MOST_NAMES} names"
        yield "has too long a path", f"At most: {most}."


def _commands(fleet: Fleet, subsystem: Subsystem) -> Iterator[Finding]:
    for key, words in subsystem.commands():
        if stops_agent(words):
            place = read_again(fleet.tree, subsystem.origin.file).key("subsystems", subsystem.name, key)
            message = f"`{key}` of the subsystem {subsystem.name} stops the agent by which it is run."
            hint = "`systemctl --no-block restart gitcfg-agent` starts it anew when the installation is over."
            yield of("GC213", subsystem.name, message, [place], hint=hint)


def _mode(entry: FileEntry) -> Iterator[tuple[str, str]]:
    if not _MODE.fullmatch(entry.mode):
        yield f"has the mode {shown(entry.mode)}", 'Write three octal digits after a zero: "0644".'


def _unresolved(fleet: Fleet) -> Iterator[Finding]:
    """Merges in files that are no YAML. A plain file may hold such lines on purpose."""
    for name, text in fleet.sources.items() if fleet.model.sources else ():
        yield from _merging(f"files/{name}", text or "", Severity.WARNING)
    signers = fleet.tree.entry(SIGNERS)
    if signers is not None and signers.kind is EntryKind.FILE and signers.size <= MAX_BYTES:
        blocks = left_over(fleet.tree.read(signers).decode("utf-8", "replace"))
        if blocks:
            yield unresolved(SIGNERS, blocks)


def _merging(path: str, text: str, severity: Severity = Severity.ERROR) -> list[Finding]:
    """What git would write of a conflict: half of it may well be text."""
    blocks = [block for block in conflicts(text) if block.whole]
    return [unresolved(path, blocks, severity)] if blocks else []


def _template(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Finding]:
    path = f"templates/{name}"
    problem = engine.analyse(name).problem
    if problem is not None:
        file = f"templates/{problem.name}"
        message = f"The template {shown(name)} cannot be read: {problem.message}"
        yield of("GC208", name, message, [Origin(file, problem.line)], hint=problem.hint)
        return
    bound = {param for param, _ in fleet.bindings}
    for param, line in engine.analyse(name).params:
        if param not in bound and fleet.declarations.find(param) is None:
            hint = did_you_mean(param, fleet.model.parameters)
            message = f"The template {shown(name)} names a parameter {shown(param)} that does not exist."
            yield of("GC208", param, message, [Origin(path, line)], hint=hint)


def _failing(fleet: Fleet, engine: TemplateEngine, broken: set[str]) -> Iterator[Finding]:
    """Templates that fail on a node: the first node of each class is tried, until one fails."""
    for kind in fleet.judged:
        for entry in kind.files.values():
            name = entry.template.name if entry.template else ""
            if name not in fleet.templates or name in broken or not kind.names:
                continue
            try:
                content(fleet, fleet[kind.names[0]], entry, engine)
            except TemplateProblem as problem:
                broken.add(name)
                yield _failed(name, problem, fleet[kind.names[0]])


def _failed(name: str, problem: TemplateProblem, node: FleetNode) -> Finding:
    message = f"The template {shown(name)} fails on {node.name}: {problem.message}"
    origin = Origin(f"templates/{problem.name}", problem.line)
    return of("GC208", name, message, [origin], hint=problem.hint)

"""What follows a step: values that are idle now, values that are wanted, problems, and the reach."""

from gitcfg.check.results import unlike
from gitcfg.cli import changes, findings
from gitcfg.cli.configure.conversation import Conversation
from gitcfg.cli.configure.features import add, remove
from gitcfg.cli.configure.params import drop, give
from gitcfg.cli.configure.seen import Seen
from gitcfg.edit.configure import Advice, AdvisedAction, find_advice, find_idle
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import counted, safe


def follow_up(at: Conversation, before: Seen) -> None:
    """Ask about what a step has brought about, until nothing is left to ask, and tell what it means."""
    _ = before.findings  # first, because what comes after is found from what was there
    _drop_idle(at, before)
    told: set[Finding] = set()
    while (finding := _next(at, before, told)) is not None:
        told.add(finding)
        if finding.code == "GC305":
            _want(at, finding)
        else:
            at.talk.tell(findings.paragraph(at.now.fleet.tree, finding), "")
            _advise(at, finding)
    gone = unlike(before.findings, at.now.findings)
    if gone:
        at.talk.tell(f"{counted(len(gone), 'problem')} of before: gone.", "green")
    tell_reach(at)


def _next(at: Conversation, before: Seen, told: set[Finding]) -> Finding | None:
    """A new problem that was not spoken of: values that are wanted last, when all features are there."""
    new = [each for each in unlike(at.now.findings, before.findings) if each not in told]
    return min(new, key=lambda each: (each.code == "GC305", not each.is_error), default=None)


def _drop_idle(at: Conversation, before: Seen) -> None:
    """Offer to drop values that only a feature needed which has gone."""
    found = at.now.definition
    if found is None:
        return
    declarations = at.now.compiled.declarations
    for each in find_idle(found.params, at.target.label, before.kinds, at.now.kinds, declarations):
        at.talk.tell(f"{safe(each.param)} was set here for {safe(', '.join(each.features))} alone.")
        if at.talk.agreed(f"Drop {safe(each.param)}?", default=True):
            drop(at, each.param)


def _want(at: Conversation, finding: Finding) -> None:
    """Ask for a value that is wanted now."""
    name = finding.subjects[0]
    nodes = f" On {counted(len(finding.nodes), 'node')}: {abridged(finding.nodes)}." if finding.nodes else ""
    at.talk.tell(safe(finding.message + nodes), "yellow")
    give(at, name)


def _advise(at: Conversation, finding: Finding) -> None:
    """Offer what may help."""
    found = find_advice(finding, at.now.definition, at.now.compiled.layers.reaches)
    if len(found) == 1 and found[0].deed is AdvisedAction.SET:  # it asks for the value anyway
        _take(at, found[0])
    elif len(found) == 1:
        if at.talk.agreed(_question(found[0]), default=finding.is_error):
            _take(at, found[0])
    elif found:
        choices = {str(number): _question(each).rstrip("?") for number, each in enumerate(found, 1)}
        said = at.talk.choose({**choices, "": "leave it for now"})
        if said:
            _take(at, found[int(said) - 1])


def _question(found: Advice) -> str:
    name = safe(found.name)
    match found.deed:
        case AdvisedAction.ADD:
            return f"Add {name} here as well?"
        case AdvisedAction.REMOVE:
            return f"Remove {name}{f', which brings {safe(found.brings)}' if found.brings else ''}?"
        case AdvisedAction.SET:
            return f"Set {name} here?"
        case AdvisedAction.UNSET:
            return f"Unset {name} here?"


def _take(at: Conversation, found: Advice) -> None:
    """Do what was offered; what it brings about is looked at in turn."""
    before = at.now
    try:
        match found.deed:
            case AdvisedAction.ADD:
                add(at, found.name)
            case AdvisedAction.REMOVE if remove(at, found.name):
                _drop_idle(at, before)
            case AdvisedAction.SET:
                give(at, found.name)
            case AdvisedAction.UNSET:
                drop(at, found.name)
    except GitcfgError as error:
        at.talk.warn(error)


def tell_reach(at: Conversation) -> None:
    """How far everything that was done reaches, in one line."""
    _tell_reach(at, "so far: ", stat=False)


def tell_changes(at: Conversation) -> None:
    """The same with what changes on which nodes."""
    _tell_reach(at, "", stat=True)


def _tell_reach(at: Conversation, head: str, stat: bool) -> None:
    if not at.now.nodes and not at.base.nodes:
        at.talk.tell("No node changes: none is made from this yet.")
        return
    found = at.now.since(at.base)
    if stat:
        changes.show_stat(at.talk.console, found)
    at.talk.console.print(head, style="dim", end="")
    changes.summary(at.talk.console, found)


def new_problems(at: Conversation) -> tuple[Finding, ...]:
    """What was not wrong when it began."""
    return unlike(at.now.findings, at.base.findings)

"""The consequences of a step of `gitcfg configure`: unused values, missing values, problems, the reach."""

from gitcfg.check.results import unlike
from gitcfg.cli import findings
from gitcfg.cli.configure.conversation import Conversation, TargetView
from gitcfg.cli.configure.features import add_feature, remove_feature
from gitcfg.cli.configure.parameters import ask_value, drop_param
from gitcfg.cli.configure.questions import ask_yes_no, choose
from gitcfg.cli.configure.views import print_reach
from gitcfg.edit.configure import Advice, AdvisedAction, find_advice, find_idle
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import abridged


def follow_up(at: Conversation, before: TargetView) -> None:
    """Ask about the consequences of a step until no question is left, and print its reach."""
    _ = before.findings  # first, because the later findings are computed from the earlier ones
    _drop_idle(at, before)
    told: set[Finding] = set()
    while new := [one for one in unlike(at.now.findings, before.findings) if one not in told]:
        # Missing values come last, when all features are there.
        finding = min(new, key=lambda one: (one.code == "GC305", not one.is_error))
        told.add(finding)
        is_elsewhere = finding.nodes and set(finding.nodes).isdisjoint(at.now.nodes)
        if finding.code == "GC305" and not is_elsewhere:
            count = f" On {counted(len(finding.nodes), 'node')}: " if finding.nodes else ""
            nodes = f"{count}{abridged(finding.nodes)}." if finding.nodes else ""
            at.talk.tell(safe(finding.message + nodes), "yellow")
            ask_value(at, finding.subjects[0])
        else:
            at.talk.tell(findings.finding_text(at.now.fleet.tree, finding), "")
            if not is_elsewhere:  # nothing done here fixes other nodes
                _advise(at, finding)
    gone = unlike(before.findings, at.now.findings)
    if gone:
        at.talk.tell(f"{counted(len(gone), 'problem')} from before: solved.", "green")
    print_reach(at)


def _drop_idle(at: Conversation, before: TargetView) -> None:
    """Offer to drop values that only a removed feature needed."""
    found = at.now.definition
    if found is None:
        return
    declarations = at.now.compiled.declarations
    for each in find_idle(found.params, at.target.label, before.classes, at.now.classes, declarations):
        at.talk.tell(f"{safe(each.param)} was set here only for {safe(', '.join(each.features))}.")
        if ask_yes_no(at, f"Drop {safe(each.param)}?", default=True):
            drop_param(at, each.param)


def _advise(at: Conversation, finding: Finding) -> None:
    """Offer possible fixes."""
    found = find_advice(finding, at.now.definition, at.now.compiled.layers.reaches)
    if len(found) == 1:
        asks = found[0].action is AdvisedAction.SET  # it asks for the value anyway
        if asks or ask_yes_no(at, _question(found[0]), default=finding.is_error):
            _follow_advice(at, found[0])
    elif found:
        choices = {str(number): _question(each).rstrip("?") for number, each in enumerate(found, 1)}
        if answer := choose(at, {**choices, "": "leave it for now"}):
            _follow_advice(at, found[int(answer) - 1])


def _question(found: Advice) -> str:
    name = safe(found.name)
    match found.action:
        case AdvisedAction.ADD:
            return f"Add {name} here as well?"
        case AdvisedAction.REMOVE:
            return f"Remove {name}{f', which includes {safe(found.included)}' if found.included else ''}?"
        case AdvisedAction.SET:
            return f"Set {name} here?"
        case AdvisedAction.UNSET:
            return f"Unset {name} here?"


def _follow_advice(at: Conversation, found: Advice) -> None:
    """Make the change that was offered; its consequences are examined next."""
    before = at.now
    try:
        match found.action:
            case AdvisedAction.ADD:
                add_feature(at, found.name)
            case AdvisedAction.REMOVE if remove_feature(at, found.name):
                _drop_idle(at, before)
            case AdvisedAction.SET:
                ask_value(at, found.name)
            case AdvisedAction.UNSET:
                drop_param(at, found.name)
    except GitcfgError as error:
        at.talk.warn(error)

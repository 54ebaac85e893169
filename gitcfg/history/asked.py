"""What a log is asked for in words: the question that is meant, or why there is none."""

from gitcfg.history.log import Log, Logs
from gitcfg.history.question import Question, Subject
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown


def answered(
    logs: Logs, name: str, param: str | None = None, kind: Subject | None = None, limit: int | None = None
) -> Log:
    """The log of what goes by a name, or of one parameter on a node.

    GitcfgError: nothing ever went by that name, or things of several kinds do.
    """
    if param is not None and kind not in (None, Subject.NODE):
        raise GitcfgError(
            "Only a node's parameters have logs of their own.", "Name a node, then the parameter."
        )
    meant = Subject.NODE if param is not None else kind or _kind(logs, name)
    log = logs.log(Question(meant, name, param), limit)
    if not log.entries:
        _judge(logs, log.question)
    return log


def _kind(logs: Logs, name: str) -> Subject:
    kinds = logs.kinds(name)
    if not kinds:
        raise _unknown(logs, name, tuple(Subject))
    if len(kinds) == 1:
        return kinds[0]
    *most, last = (f"a {kind.noun}" for kind in kinds)
    which = " or ".join(f"--kind {kind}" for kind in kinds)
    raise GitcfgError(f"{shown(name)} is {', '.join(most)} and {last}.", f"Say which: {which}.")


def _judge(logs: Logs, question: Question) -> None:
    """Without entries there never was such a thing, but a parameter may just never have been on a node."""
    if question.kind not in logs.kinds(question.name):
        raise _unknown(logs, question.name, (question.kind,))
    if question.param is not None and Subject.PARAM not in logs.kinds(question.param):
        raise _unknown(logs, question.param, (Subject.PARAM,))


def _unknown(logs: Logs, name: str, kinds: tuple[Subject, ...]) -> GitcfgError:
    from gitcfg.history.names import known

    names = known(logs.repository.at(logs.tip))
    *most, last = (kind.noun for kind in kinds)
    nouns = f"{', '.join(most)} or {last}" if most else last
    hint = did_you_mean(name, sorted(one for kind in kinds for one in names[kind]))
    return GitcfgError(f"There never was a {nouns} {shown(name)}.", hint)

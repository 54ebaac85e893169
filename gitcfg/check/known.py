"""Which findings are new: what was told before in the same words, of the same nodes, is not."""

from collections.abc import Callable, Iterable

from gitcfg.model import Finding

_Fact = tuple[str, tuple[str, ...], str]


class Known:
    """What had been wrong before, asked as `finding in known`."""

    def __init__(self, before: Iterable[Finding]) -> None:
        self._nodes: dict[_Fact, set[str]] = {}
        for finding in before:
            self._nodes.setdefault(_fact(finding), set()).update(finding.nodes)

    def __contains__(self, finding: Finding) -> bool:
        """Was it told in the same words, and of all the nodes that it is about now?"""
        nodes = self._nodes.get(_fact(finding))
        return nodes is not None and nodes.issuperset(finding.nodes)


def counting(found: Iterable[Finding], known: Callable[[], Known], ratchet: bool) -> tuple[Finding, ...]:
    """Of what is wrong after a change, what counts: all but known warnings, with a ratchet known errors.

    What is `known` is asked for only where that matters, and may be slow the first time.
    """
    return tuple(each for each in found if (each.is_error and not ratchet) or each not in known())


def unlike(found: Iterable[Finding], before: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that were not known before."""
    known = Known(before)
    return tuple(finding for finding in found if finding not in known)


def _fact(finding: Finding) -> _Fact:
    return finding.code, finding.subjects, finding.message

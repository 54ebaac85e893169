"""Updates: recover an interrupted installation, install what the server names, repair and advertise."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from ..install.commands import run_command
from ..install.disk import write_file
from ..install.drift import Drift, find_drift, recover
from ..install.outcome import (
    FAILED,
    OK,
    REFUSED,
    UNCHANGED,
    Busy,
    Damaged,
    InstallError,
    Outcome,
    PackageError,
    StepFailed,
)
from ..install.package import RETIRED, Actions, Package
from ..install.plan import STOP
from ..install.policy import OWN_PREFIX, parent_of
from ..install.record import (
    debt_titles,
    read_debts,
    read_installed,
    read_last_report,
    set_damaged_aside,
    set_file_aside,
    set_report_aside,
)
from ..install.store import Limits, Place, open_store
from .agent import Agent, is_last, keep_damage, keep_lost_memory, keep_repair, keep_result
from .client import Target, ask_actions, ask_package, ask_target
from .config import Advert
from .errors import AgentError, Declined, Forbidden
from .memory import NAME, load_memory

STEP = "reach"
_PAUSE = 1.0


def make_reach_check(agent: Agent, target: Target) -> Callable[[], None] | None:
    """Return the check that the server is reachable; None if agent.toml switches it off."""
    return (lambda: _check_reach(agent, target)) if agent.settings.reach else None


def _check_reach(agent: Agent, target: Target) -> None:
    """Check over a new connection: an old one may outlive a name server or a route that is gone."""
    until = time.monotonic() + agent.settings.reach
    agent.client.close()
    while True:
        left = max(0.1, min(agent.settings.timeout, until - time.monotonic()))
        try:
            ask_target(agent.client, 0, target.digest, timeout=left)
        except Declined:
            return  # an answer, and from the pinned server
        except AgentError as error:
            if time.monotonic() + _PAUSE > until:
                raise StepFailed(
                    STEP, f"The server is not reachable with this configuration: {error}"
                ) from None
            time.sleep(_PAUSE)
        else:
            return


# Before a round: recover what was interrupted or damaged, and report it to the server.

_FORGOTTEN = (
    "The agent's state is lost: results that were not reported, commits that failed, and the newest answer's"
    " sequence."
)


def settle_memory(agent: Agent) -> None:
    """Rename damaged files that the agent can work without, at its start, before it overwrites them."""
    try:
        message = set_file_aside(agent.place, NAME, _stamp(agent), lambda: load_memory(agent.place))
        if message:
            keep_lost_memory(agent, f"{message} {_FORGOTTEN}")
        message = set_report_aside(agent.place, _stamp(agent))
        if message:
            keep_lost_memory(agent, message)
    except (InstallError, OSError) as error:
        agent.explain(error)


def settle(agent: Agent) -> None:
    """Finish or roll back an interrupted installation, and keep its result for the server.

    A read-only disk does not prevent check-ins: new installations are refused for the same reason, and that
    is reported. A damaged record or journal is reported at once.
    """
    try:
        _recover(agent)
        read_installed(agent.place)
        read_debts(agent.place)
    except Busy:
        raise
    except Damaged as error:
        keep_damage(agent, _set_damaged_aside(agent, error))
    except InstallError as error:
        keep_damage(agent, str(error))
    except OSError as error:
        agent.explain(error)


def settle_without_settings(place: Place) -> None:
    """Finish or roll back an interrupted installation if wrong settings prevent the agent's start.

    The next agent that can start reports it.
    """
    if os.path.isdir(os.path.join(place.root, place.folder[1:])):
        with suppress(InstallError, OSError):
            recover(place._replace(limits=Limits()))


def _recover(agent: Agent) -> None:
    outcome = recover(agent.place)
    if outcome is None and agent.memory.begun:
        found = read_last_report(agent.place)
        outcome = found if found and found.commit == agent.memory.begun else None
    if outcome is not None and not (outcome.result == FAILED and is_last(agent, outcome)):
        keep_result(agent, outcome, 0.0)
    elif agent.memory.begun:
        agent.remember(begun="")


def _set_damaged_aside(agent: Agent, error: Damaged) -> str:
    try:
        return set_damaged_aside(agent.place, _stamp(agent)) or error.message
    except Busy:
        raise
    except (InstallError, OSError) as refused:
        return f"{error.message} Cannot rename it: {refused}"


def _stamp(agent: Agent) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(agent.wall()))


# Installing what the server names.

MOST_WAIT = 3600.0


def follow(agent: Agent, target: Target) -> Outcome | None:
    """Install what the server names; return None if there is nothing to do, or not yet."""
    before = agent.read_in_force()
    moved = before is None or before.commit != target.commit
    # Pending restarts and reloads cause another installation. A pending stop waits for the next change.
    is_owed = any(one.kind != STOP for one in agent.read_debts())
    is_known = before is not None and before.digest == target.digest and not is_owed
    if before is not None and is_known and not (moved and agent.settings.advertise):
        agent.record_supply()
        return _adopt(agent, before, target)
    if _is_too_early(agent, target):
        return None
    started = time.monotonic()
    if target.again:
        # At most once per interval: a server that asks forever must not keep this node busy.
        agent.patient_until = started + agent.settings.interval
    outcome = _put_in_force(agent, before, target)
    keep_result(agent, outcome, time.monotonic() - started)
    tell_application(agent)
    return outcome


def _put_in_force(agent: Agent, before: Package | None, target: Target) -> Outcome:
    try:
        with agent.signals.waiting():
            package = ask_package(agent.client, target)
            same = before is not None and before.digest == package.digest
            actions = Actions() if same else ask_actions(agent.client, before, target)
    except PackageError as error:
        agent.record_supply()
        return Outcome(REFUSED, target.commit, target.digest, step="read", output=str(error))
    from ..install.installation import install

    agent.record_supply()
    settle(agent)  # Busy if another program installs: that is not a failure of this commit
    agent.signals.may_begin()
    owed = "".join(f", {one} is pending" for one in debt_titles(agent.read_debts()))
    instead = f" instead of {before.commit[:10]}" if before else ""
    agent.say(f"{target.commit[:10]}: to be installed{instead}{owed}")
    agent.remember(begun=target.commit)
    return install(agent.place, package, actions, agent.settings.policy, make_reach_check(agent, target))


def _adopt(agent: Agent, before: Package, target: Target) -> Outcome | None:
    """Adopt another commit with the same digest, without fetching it.

    If the last reported result is a failed rollback, that problem is now over, by some other means. Report it
    to the server, which otherwise waits for it forever.
    """
    if (agent.memory.last or {}).get("outcome") == FAILED:
        outcome = Outcome(UNCHANGED, target.commit, target.digest)
        keep_result(agent, outcome, 0.0)
        return outcome
    known = agent.running(before)
    if known is not None and known.commit != target.commit:
        agent.remember(running=known._replace(commit=target.commit), failure=None)
    return None


def _is_too_early(agent: Agent, target: Target) -> bool:
    """Return whether the target failed recently.

    The pause doubles with each failure, because a daemon may only have been slow.
    """
    failure = agent.memory.failure
    if failure is None or (failure.commit, failure.digest) != (target.commit, target.digest):
        return False
    if target.again and time.monotonic() >= agent.patient_until:
        return False
    pause = min(agent.settings.interval * 2.0 ** min(failure.tries, 20), MOST_WAIT)
    return 0 <= agent.wall() - failure.at < pause


def tell_application(agent: Agent) -> None:
    """Pass the node's description to the application if it changed; a failure is retried in a later round."""
    package = agent.read_in_force() if agent.settings.advertise else None
    if package is None:
        return
    mark = advert_mark(package, agent.settings.advertise)
    if mark == agent.memory.advertised:
        return
    try:
        advertise(agent.place, package, agent.settings.advertise)
    except (AgentError, InstallError, OSError) as error:
        agent.explain(error)
    else:
        agent.remember(advertised=mark)


# Repair of files that were changed by hand, from the record, or from the server if they are secret.

_CONTENT = ("changed", "missing", "link")
"""Kinds of drift that need the file's content for a repair."""


def mend(agent: Agent, found: tuple[Drift, ...]) -> tuple[Drift, ...]:
    """Repair the drift that was found; return the drift to report, empty if all is repaired.

    A repair has a result of its own. While a failed commit is pending, its result must stay the last one; the
    drift is then reported instead, once.
    """
    from ..install.installation import repair

    started, package = agent.place.clock.now(), agent.read_in_force()
    secret = package is not None and any(_is_secret(package, one) for one in found)
    fresh = _fetch_secrets(agent, package) if package is not None and secret else None
    outcome = repair(agent.place, agent.settings.policy, fresh)
    if outcome.result not in (OK, UNCHANGED):
        if outcome.output not in str(agent.memory.last or ""):
            keep_result(agent, outcome, 0.0)
        return found
    agent.drifted = find_drift(agent.place) if secret else ()
    paths = {one.path for one in agent.drifted}
    gone = tuple(one for one in found if one.path not in paths)
    if gone:
        keep_repair(agent, outcome, gone, agent.place.clock.now() - started)
    if agent.drifted:
        agent.tell(
            "Files were changed by hand; the repair waits for secrets from a server:"
            f" {', '.join(sorted(paths))}."
        )
    return agent.drifted if agent.memory.failure is None else found


def _is_secret(package: Package, one: Drift) -> bool:
    file = package.files.get(one.path)
    return one.kind in _CONTENT and file is not None and file.true_content is None


def _fetch_secrets(agent: Agent, package: Package) -> Package | None:
    """Return the installed package with its secrets; None if no server sends it."""
    running = agent.running(package)
    if running is None:
        return None
    try:
        with agent.signals.waiting():
            return ask_package(agent.client, Target(package.node, running.commit, running.digest, 0))
    except (AgentError, PackageError) as error:
        agent.explain(error)
        return None


# What the application learns about the node: features and groups as attributes that jobs can match on.

_ADVERT_FILE = "node.json"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_ .+@-]*")
_ADVERT_SECONDS = 60.0


def advert_mark(package: Package, adverts: Iterable[Advert]) -> str:
    """Return a digest of what would be advertised, to detect changes."""
    values = [package.features, package.groups, package.state, [[one.path, one.command] for one in adverts]]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def advertise(place: Place, package: Package, adverts: Iterable[Advert]) -> None:
    """Write the snippets and run the commands of the adverts; raise Forbidden if one fails."""
    for advert in adverts:
        if advert.path:
            _write_advert(place, advert.path, package)
        if advert.command:
            _run_advert(place, advert.command, package)


def htcondor_snippet(package: Package) -> str:
    """Return HTCondor configuration that makes features and groups attributes of the machine."""
    return (
        "# Written by gitcfg-agent: attributes of this machine, for jobs to match. Changes are lost.\n"
        f'GITCFG_FEATURES = "{_join(package.features)}"\n'
        f'GITCFG_GROUPS = "{_join(package.groups)}"\n'
        "STARTD_ATTRS = $(STARTD_ATTRS) GITCFG_FEATURES GITCFG_GROUPS\n"
    )


def _join(names: Iterable[str]) -> str:
    """Return names as one text; raise Forbidden for a name that HTCondor could read as something else."""
    names = tuple(names)
    odd = [name for name in names if not _PLAIN.fullmatch(name)]
    if odd:
        raise Forbidden(f"Cannot advertise the name {odd[0]!r}.")
    return ",".join(names)


def _write_advert(place: Place, path: str, package: Package) -> None:
    """Write the snippet beside its target, then rename it; remove it if the node is retired."""
    name, fresh = path.rpartition("/")[2], f"{OWN_PREFIX}advertise.{os.getpid()}.new"
    with open_store(place) as store, store.tree.folder(parent_of(path)) as at:
        if package.state == RETIRED:
            store.disk.unlink(at, name)
        else:
            content = htcondor_snippet(package).encode()
            store.disk.unlink(at, fresh)
            try:
                write_file(store.disk, at, fresh, content, None, 0o644)
                store.disk.rename(at, fresh, at, name)
            finally:
                store.disk.unlink(at, fresh)
        store.disk.sync(at)


def _run_advert(place: Place, command: tuple[str, ...], package: Package) -> None:
    """Run a command with one more argument: the path of a JSON file that describes the node."""
    data = {
        "node": package.node,
        "commit": package.commit,
        "state": package.state,
        "features": list(package.features),
        "groups": list(package.groups),
    }
    with open_store(place) as store:
        store.write_json(_ADVERT_FILE, data)
        ran = run_command((*command, os.path.join(store.path, _ADVERT_FILE)), _ADVERT_SECONDS, place.clock)
    if not ran.ok:
        raise Forbidden(f"{command[0]} rejected this node's description: {ran.output.strip() or ran.code}.")

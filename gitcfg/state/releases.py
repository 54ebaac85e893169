"""Releases as they are stored, and what people do to them: resume a halted one, or abort one.

Several servers change them, each only from the revision that it has read.
"""

import msgspec
from sqlalchemy import Engine, Row, select, update

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED
from gitcfg.rollout import Plan, Progress, Status, abort, resume
from gitcfg.state.database import changing, reading, take_lock
from gitcfg.state.events import Events
from gitcfg.state.records import StoredRelease
from gitcfg.state.schema import RELEASES

_LOCK = 0x72656C73  # "rels"
RELEASE = "release"
"""The class of events about the progress of a release."""
_TRIES = 5
_INSTEAD = {
    Status.RUNNING: "It continues by itself. Run `gitcfg release status` to see its progress.",
    Status.DONE: "It has reached all nodes. Run `gitcfg undo` to make a commit that reverts it.",
    Status.OVERTAKEN: "A newer commit has replaced it.",
    Status.ABORTED: "Push a new commit to start a new release.",
}


class Releases:
    """Commits on their way to nodes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._events = Events(engine)

    def latest(self) -> tuple[StoredRelease, ...]:
        """Return the newest first, up to and including the last one that has reached all nodes."""
        query = select(RELEASES).order_by(RELEASES.c.number.desc())
        found: list[StoredRelease] = []
        with reading(self._engine) as connection:
            for row in connection.execute(query):
                found.append(_parse_row(row))
                if found[-1].progress.status is Status.DONE:
                    break
        return tuple(found)

    def newest(self, limit: int) -> tuple[StoredRelease, ...]:
        """Return the newest first, with any result."""
        query = select(RELEASES).order_by(RELEASES.c.number.desc()).limit(limit)
        with reading(self._engine) as connection:
            return tuple(map(_parse_row, connection.execute(query)))

    def begin(self, release: StoredRelease) -> bool:
        """Begin a release, which supersedes unfinished ones. Return False if its commit is the newest one."""
        with changing(self._engine) as connection:
            take_lock(connection, _LOCK)
            query = select(RELEASES).order_by(RELEASES.c.number.desc()).limit(1)
            newest = connection.execute(query).first()
            if newest is not None and newest.commit == release.commit:
                return False
            going = RELEASES.c.status.in_([Status.RUNNING, Status.HALTED])
            for row in connection.execute(select(RELEASES).where(going)).all():
                found = _parse_row(row)
                progress = msgspec.structs.replace(found.progress, status=Status.OVERTAKEN)
                changed = update(RELEASES).where(RELEASES.c.number == row.number)
                connection.execute(changed.values(**_progress_columns(progress), revision=found.revision + 1))
            new = {
                "commit": release.commit,
                "base": release.base,
                "created": release.created,
                "plan": msgspec.msgpack.encode(release.plan),
                "back": int(release.back),
                "revision": release.revision,
                **_progress_columns(release.progress),
            }
            connection.execute(RELEASES.insert().values(**new))
        return True

    def advance(self, known: StoredRelease, progress: Progress, plan: Plan | None = None) -> bool:
        """Save the progress of a release. Return False if it has changed since it was read.

        `plan` is a new one; None: it stays the same.
        """
        changes: dict[str, object] = {**_progress_columns(progress), "revision": known.revision + 1}
        if plan is not None:
            changes["plan"] = msgspec.msgpack.encode(plan)
        changed = update(RELEASES).where(
            RELEASES.c.commit == known.commit,
            RELEASES.c.created == known.created,
            RELEASES.c.revision == known.revision,
        )
        with changing(self._engine) as connection:
            done = connection.execute(changed.values(**changes))
        return done.rowcount == 1

    def find(self, commit: str) -> StoredRelease:
        """Return the release of a commit, which may be abbreviated. Raise GitcfgError if there is none."""
        for release in self.newest(100) if len(commit) >= 4 else ():
            if release.commit.startswith(commit):
                return release
        message = f"The commit {shown(commit)} has no release."
        raise GitcfgError(message, "Run `gitcfg release status` to list releases.")

    def resume(self, commit: str, now: float, who: str) -> StoredRelease:
        """Resume a halted release. Raise GitcfgError if there is none, or it is not halted."""
        return self._steer(commit, now, who, "resumed", (Status.HALTED,))

    def abort(self, commit: str, now: float, who: str) -> StoredRelease:
        """Return nodes to what ran before a release. Raise GitcfgError if there is none, or it has ended."""
        return self._steer(commit, now, who, "aborted", (Status.RUNNING, Status.HALTED))

    def _steer(
        self, commit: str, now: float, who: str, done: str, allowed: tuple[Status, ...]
    ) -> StoredRelease:
        for _ in range(_TRIES):
            found = self.find(commit)
            status = found.progress.status
            if status not in allowed:
                message = f"The release of {found.commit[:ABBREVIATED]} is {status}, so it cannot be {done}."
                raise GitcfgError(message, _INSTEAD.get(status, ""), code=REFUSED)
            progress = resume(found.progress, now) if done == "resumed" else abort(found.progress)
            if self.advance(found, progress):
                self._events.next_sequence(now)
                self.record(found, progress, now, done, who)
                return self.find(commit)
        raise GitcfgError(
            f"The release of {commit} was changed by others at the same time.", "Try again.", code=REFUSED
        )

    def record(
        self, release: StoredRelease, progress: Progress, now: float, what: str, who: str = ""
    ) -> None:
        """Record the progress of a release as an event."""
        data = {
            "commit": release.commit,
            "what": what,
            "status": str(progress.status.value),
            "stage": progress.stage + 1,
            "stages": len(release.plan.sizes),
            "nodes": len(release.plan.order),
            "why": progress.why,
            "by": who,
        }
        self._events.add(now, RELEASE, data)


def _progress_columns(progress: Progress) -> dict[str, str]:
    return {"status": progress.status.value, "progress": msgspec.json.encode(progress).decode()}


def _parse_row(row: Row[tuple[object, ...]]) -> StoredRelease:
    return StoredRelease(
        row.commit,
        row.base,
        row.created,
        msgspec.msgpack.decode(row.plan, type=Plan),
        msgspec.json.decode(row.progress, type=Progress),
        bool(row.back),
        row.revision,
    )

"""Releases as they are kept: several servers change them, and only from what they have seen."""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Engine, Row, select, update

from gitcfg.rollout import Plan, Progress, Status
from gitcfg.state.database import alone, changing, reading
from gitcfg.state.records import StoredRelease
from gitcfg.state.tables import RELEASES

_LOCK = 0x72656C73  # "rels"


class Releases:
    """Commits on their way to nodes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def latest(self) -> tuple[StoredRelease, ...]:
        """Newest first, up to and with the last one that has reached everybody."""
        asked = select(RELEASES).order_by(RELEASES.c.number.desc())
        with reading(self._engine) as connection:
            return tuple(_until_done(map(_release, connection.execute(asked))))

    def newest(self, limit: int) -> tuple[StoredRelease, ...]:
        """Newest first, however they ended."""
        asked = select(RELEASES).order_by(RELEASES.c.number.desc()).limit(limit)
        with reading(self._engine) as connection:
            return tuple(map(_release, connection.execute(asked)))

    def begin(self, release: StoredRelease) -> bool:
        """A new one, which overtakes those on their way; False: its commit is the newest one already."""
        with changing(self._engine) as connection:
            alone(connection, _LOCK)
            asked = select(RELEASES).order_by(RELEASES.c.number.desc()).limit(1)
            newest = connection.execute(asked).first()
            if newest is not None and newest.commit == release.commit:
                return False
            going = RELEASES.c.status.in_([Status.RUNNING, Status.HALTED])
            for row in connection.execute(select(RELEASES).where(going)).all():
                found = _release(row)
                progress = msgspec.structs.replace(found.progress, status=Status.OVERTAKEN)
                changed = update(RELEASES).where(RELEASES.c.number == row.number)
                connection.execute(changed.values(**_progress(progress), revision=found.revision + 1))
            connection.execute(RELEASES.insert().values(**_columns(release)))
        return True

    def advance(self, known: StoredRelease, progress: Progress, plan: Plan | None = None) -> bool:
        """Let a release be somewhere else than it was; False: it is no longer as it was known.

        `plan` is another one than before; None: it is the same.
        """
        changes: dict[str, object] = {**_progress(progress), "revision": known.revision + 1}
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


def _until_done(releases: Iterator[StoredRelease]) -> Iterator[StoredRelease]:
    for release in releases:
        yield release
        if release.progress.status is Status.DONE:
            return


def _columns(release: StoredRelease) -> dict[str, object]:
    return {
        "commit": release.commit,
        "base": release.base,
        "created": release.created,
        "plan": msgspec.msgpack.encode(release.plan),
        "back": int(release.back),
        "revision": release.revision,
        **_progress(release.progress),
    }


def _progress(progress: Progress) -> dict[str, str]:
    return {"status": progress.status.value, "progress": msgspec.json.encode(progress).decode()}


def _release(row: Row[tuple[object, ...]]) -> StoredRelease:
    return StoredRelease(
        row.commit,
        row.base,
        row.created,
        msgspec.msgpack.decode(row.plan, type=Plan),
        msgspec.json.decode(row.progress, type=Progress),
        bool(row.back),
        row.revision,
    )

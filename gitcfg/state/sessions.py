"""Sessions of browsers: each begun with a token, and over when it ends or when the token is revoked."""

import secrets
from hashlib import sha256

from sqlalchemy import Engine, delete, select

from gitcfg.state.database import changing, insert, reading
from gitcfg.state.records import Token
from gitcfg.state.tables import SESSIONS, TOKENS
from gitcfg.state.tokens import holder

LONGEST = 12 * 3600.0
_BYTES = 32


class Sessions:
    """Who has logged in. Only hashes are kept: who reads the database is nobody by that."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, token: str, now: float) -> str | None:
        """A new session, as its cookie says it; None: it is nobody's token."""
        session, hashed = secrets.token_urlsafe(_BYTES), _hash(token)
        row = {"hash": _hash(session), "token": hashed, "until": now + LONGEST}
        with reading(self._engine) as connection:  # whoever guesses keeps nobody from writing
            if connection.execute(select(TOKENS.c.name).where(TOKENS.c.hash == hashed)).first() is None:
                return None
        with changing(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.until < now))
            connection.execute(insert(connection, SESSIONS).values(**row))
        return session

    def holder(self, session: str, now: float) -> Token | None:
        """Whose token began a session; None: it is over, or there never was one."""
        asked = select(TOKENS).join(SESSIONS, SESSIONS.c.token == TOKENS.c.hash)
        asked = asked.where(SESSIONS.c.hash == _hash(session), SESSIONS.c.until >= now)
        return holder(self._engine, asked, now)

    def end(self, session: str) -> None:
        """Let a session be over."""
        with changing(self._engine) as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.hash == _hash(session)))


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()

"""Logs as JSON, a line each."""

import json
import logging
from datetime import UTC, datetime
from typing import TextIO


class Lines(logging.Formatter):
    """`time`, `level`, `message`, and whatever else is said."""

    def format(self, record: logging.LogRecord) -> str:
        more = dict(getattr(record, "said", {}))
        if "message" in more:
            more["detail"] = more.pop("message")
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **more,
        }
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=True, default=str)


def logger(stream: TextIO, level: str) -> logging.Logger:
    """The log of the server; what aiohttp has to say goes the same way."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    for name in ("gitcfg.server", "aiohttp", "asyncio"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(level.upper() if name == "gitcfg.server" else "WARNING")
    return logging.getLogger("gitcfg.server")

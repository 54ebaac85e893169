"""Logs as JSON, one object a line."""

import json
import logging
from datetime import UTC, datetime
from typing import TextIO


class JsonFormatter(logging.Formatter):
    """Formats `time`, `level`, `message`, and further fields."""

    def format(self, record: logging.LogRecord) -> str:
        more = dict(getattr(record, "fields", {}))
        if "message" in more:
            more["detail"] = more.pop("message")
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **more,
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


def make_logger(stream: TextIO, level: str) -> logging.Logger:
    """Return the server's log; aiohttp's messages go to the same stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    for name in ("gitcfg.server", "aiohttp", "asyncio"):
        log = logging.getLogger(name)
        log.handlers[:] = [handler]
        log.propagate = False
        log.setLevel(level.upper() if name == "gitcfg.server" else "WARNING")
    return logging.getLogger("gitcfg.server")

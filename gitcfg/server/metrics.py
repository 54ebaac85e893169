"""Metrics for OpenMetrics: counts of the server's work, and the state of the fleet."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gitcfg.state.records import Checkin

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts since the server started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.sealed: Counter[str] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: dict[str, float] = {}
        self._counts: Counter[str] = Counter()

    def checked_in(self, checkin: Checkin) -> None:
        """Count a check-in."""
        self.outcomes[checkin.result.outcome if checkin.result is not None else "none"] += 1

    def answered(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count a request; `seconds` is None if it waited on purpose."""
        self.requests[method, route, status] += 1
        if seconds is None:
            return
        self._counts[route] += 1
        self._seconds[route] = self._seconds.get(route, 0.0) + seconds
        for bound in _BUCKETS:
            if seconds <= bound:
                self._buckets[route, bound] += 1

    def lines(self) -> Iterator[str]:
        """Format all counts for OpenMetrics."""
        yield from family("gitcfg_requests", "counter", "Requests answered.")
        for (method, route, status), count in sorted(self.requests.items()):
            request_labels = (("method", method), ("route", route), ("status", str(status)))
            yield sample("gitcfg_requests_total", request_labels, count)
        yield from family(
            "gitcfg_checkins", "counter", "Check-ins stored, by the outcome of the installation."
        )
        for outcome, count in sorted(self.outcomes.items()):
            yield sample("gitcfg_checkins_total", (("outcome", outcome),), count)
        yield from family(
            "gitcfg_secret_configurations", "counter", "Configurations with secrets that were sent to nodes."
        )
        for outcome, count in sorted(self.sealed.items()):
            yield sample("gitcfg_secret_configurations_total", (("outcome", outcome),), count)
        yield from family("gitcfg_request_seconds", "histogram", "Duration of requests, without long polls.")
        for route, count in sorted(self._counts.items()):
            for bound in _BUCKETS:
                labels = (("route", route), ("le", str(bound)))
                yield sample("gitcfg_request_seconds_bucket", labels, self._buckets[route, bound])
            yield sample("gitcfg_request_seconds_bucket", (("route", route), ("le", "+Inf")), count)
            yield sample("gitcfg_request_seconds_sum", (("route", route),), self._seconds[route])
            yield sample("gitcfg_request_seconds_count", (("route", route),), count)


def gauges(name: str, text: str, label: str, values: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Format a gauge with several values."""
    yield from family(name, "gauge", text)
    for key, value in values:
        yield sample(name, ((label, key),), value)


def gauge(name: str, text: str, value: float) -> Iterator[str]:
    """Format a gauge with one value."""
    yield from family(name, "gauge", text)
    yield sample(name, (), value)


def family(name: str, kind: str, text: str) -> Iterator[str]:
    """Format the header of the samples that follow."""
    yield f"# TYPE {name} {kind}"
    yield f"# HELP {name} {text}"


def sample(name: str, labels: Labels, value: float) -> str:
    """Format a sample."""
    inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels)
    return f"{name}{{{inner}}} {value:g}" if inner else f"{name} {value:g}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

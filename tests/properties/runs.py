"""How long properties are tried: quickly and always alike, or deeply (`slow`)."""

from hypothesis import HealthCheck, settings

from tests.seeds import TIMES

_ALIKE = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
QUICK = settings(_ALIKE, max_examples=30)
DEEP = settings(_ALIKE, max_examples=150 * TIMES)

"""How many random histories are tried: each is some twenty commits, compiled one by one."""

from hypothesis import settings

from tests.properties.runs import DEEP, QUICK
from tests.seeds import TIMES

FEW = settings(QUICK, max_examples=8)
MANY = settings(DEEP, max_examples=15 * TIMES)

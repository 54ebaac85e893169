"""The laws on generated repositories, which are larger and whose layers are like those of real fleets."""

import msgspec
import pytest

from gitcfg.generate import Options, Types, large, repository, small, stress
from tests.properties import laws

SHAPES = {
    "usual": Options(seed=1),
    "deep": Options(seed=2, nodes=4, features=20, include_depth=6, include_fanout=3),
    "lists": Options(seed=3, types=Types(string=0, integer=0, list=50, expression=50, map=30)),
    "sets": Options(seed=4, sets=1, set_files=0.5, without=0.5, identity=0.8),
    "secrets": Options(seed=8, secrets=5, parameters=10),
    "small": msgspec.structs.replace(small(5), nodes=20),
    "stress": msgspec.structs.replace(stress(6), nodes=3),
    "large": msgspec.structs.replace(large(7), nodes=3),
}
LAWS = (laws.rendering_is_naive, laws.trails_are_naive, laws.last_step_is_the_value, laws.findings_are_naive)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("shape", SHAPES)
def test_law_holds(law: laws.Law, shape: str) -> None:
    law(repository(SHAPES[shape]))

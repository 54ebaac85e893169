"""The laws of answers on random repositories, and on generated ones."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gitcfg.generate import Options, repository, small
from tests.explain import laws
from tests.properties.laws import Law
from tests.properties.runs import QUICK
from tests.properties.strategies import Files, wild

LAWS = (
    laws.features_are_had_where_they_stand,
    laws.places_are_those_of_naive_trails,
    laws.deciding_entries_are_rendered,
    laws.settings_win_where_trails_say,
    laws.values_unfolded_are_every_nodes,
    laws.counts_are_those_of_nodes,
)
SHAPES = {
    "usual": Options(seed=11),
    "deep": Options(seed=12, nodes=4, features=20, include_depth=6, include_fanout=3),
    "sets": Options(seed=14, sets=1, set_files=0.5, without=0.5, identity=0.8),
    "small": msgspec.structs.replace(small(15), nodes=10),
}
FOLDERS = ("features/", "groups/", "nodes/", "nodesets/", "overrides/")


@st.composite
def with_files(draw: DrawFn) -> Files:
    """A repository whose layers bring files, replace them and take them away."""
    files = dict(draw(wild()))
    for path in [path for path in files if path.startswith(FOLDERS)]:
        entries = [
            f"{name}: {draw(st.sampled_from((f'{{text: {path}}}', 'null')))}"
            for name in draw(st.lists(st.sampled_from(("/f", "/g")), unique=True))
        ]
        files[path] += f"files: {{{', '.join(entries)}}}\n"
    return files


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_holds(law: Law) -> None:
    QUICK(given(with_files())(law))()


@pytest.mark.parametrize(
    "law",
    [law for law in LAWS if law is not laws.deciding_entries_are_rendered],
    ids=lambda law: law.__name__,
)
@pytest.mark.parametrize("shape", SHAPES)
def test_law_holds_of_generated_repositories(law: Law, shape: str) -> None:
    law(repository(SHAPES[shape]))

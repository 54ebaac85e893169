"""Over random repositories: every definition has its entry, and every link leads to one."""

from collections.abc import Callable

import pytest
from hypothesis import given

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import FOLDERS
from gitcfg.convert.reference.html import render_page
from gitcfg.generate import Options, repository
from tests.convert.reference.reading import ALLOWED, folder, of, read_markdown, read_page, undrawn
from tests.pictures.fleets import fleet
from tests.properties.runs import DEEP, QUICK
from tests.properties.strategies import Files, valid, wild

Property = Callable[[Fleet], None]


def everything_has_an_entry(made: Fleet) -> None:
    found = {(entry.kind, entry.name) for chapter in of(made).chapters for entry in chapter.entries}
    model = made.model
    assert {name for kind, name in found if kind == "feature"} == set(model.features)
    assert {name for kind, name in found if kind == "group"} == {*model.groups, model.settings.default_group}
    assert {name for kind, name in found if kind == "subsystem"} == set(model.subsystems)
    assert {name for kind, name in found if kind == "nodeset"} == set(model.nodesets)
    assert {name for kind, name in found if kind == "override"} == set(model.overrides)
    parameters = {name for kind, name in found if kind == "parameter"}
    assert parameters >= set(model.parameters)
    for name, _ in model.bindings():
        declared = made.declarations.find(name)
        assert "${" in name or (declared.name if declared else name) in parameters


def every_link_of_the_folder_leads_to_a_file(made: Fleet) -> None:
    files = folder(made)
    reached = {"README.md"}
    for path, text in files.items():
        found = read_markdown(path, text)
        assert set(found.links) <= set(files)
        assert set(found.html) <= ALLOWED
        reached.update(found.links)
    assert reached == set(files)
    assert {path.partition("/")[0] for path in files} <= {"README.md", *FOLDERS.values()}


def every_link_of_the_page_leads_to_an_anchor(made: Fleet) -> None:
    found = read_page(made)
    assert len(found.ids) == len(set(found.ids))
    assert set(found.targets) == set(found.ids)
    assert found.scripts == 1


def the_same_repository_gives_the_same_bytes(made: Fleet) -> None:
    again = Fleet(made.model, made.tree, made.today)
    assert folder(again) == folder(made)
    assert render_page(of(again), undrawn) == render_page(of(made), undrawn)


PROPERTIES = [
    everything_has_an_entry,
    every_link_of_the_folder_leads_to_a_file,
    every_link_of_the_page_leads_to_an_anchor,
    the_same_repository_gives_the_same_bytes,
]
each = pytest.mark.parametrize("law", PROPERTIES, ids=lambda law: law.__name__)


@pytest.mark.slow
@each
def test_of_valid_repositories(law: Property) -> None:
    @QUICK
    @given(valid())
    def holds(files: Files) -> None:
        law(fleet(files))

    holds()


@pytest.mark.slow
@each
def test_of_any_repositories(law: Property) -> None:
    @QUICK
    @given(wild())
    def holds(files: Files) -> None:
        law(fleet(files))

    holds()


@pytest.mark.slow
@each
def test_of_many_repositories(law: Property) -> None:
    @DEEP
    @given(wild())
    def holds(files: Files) -> None:
        law(fleet(files))

    holds()


@pytest.mark.slow
@each
@pytest.mark.parametrize("seed", range(3))
def test_of_generated_repositories(law: Property, seed: int) -> None:
    made = repository(Options(seed=seed, nodes=60, subsystems=4))
    law(fleet({path: text for path, text in made.items() if isinstance(text, str)}))

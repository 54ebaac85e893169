"""Sessions of browsers, in both databases."""

from gitcfg.state.records import Role
from gitcfg.state.state import State
from gitcfg.state.tokens import LONGEST


def test_a_session_is_of_whose_token_began_it(state: State) -> None:
    tokens = {
        name: state.tokens.create(name, role, 1.0) for name, role in (("a", Role.READ), ("b", Role.OPERATE))
    }
    sessions = {name: state.sessions.begin(token, 2.0) for name, token in tokens.items()}
    assert len(set(sessions.values()) | set(tokens.values())) == 4
    for name, session in sessions.items():
        assert session is not None
        found = state.sessions.find_holder(session, 3.0)
        assert found is not None
        assert found.name == name
        assert state.tokens.find_holder(session, 3.0) is None
        assert state.sessions.find_holder(tokens[name], 3.0) is None
    assert [token.used for token in state.tokens.all()] == [3.0, 3.0]


def test_nobodys_token_begins_none(state: State) -> None:
    token = state.tokens.create("a", Role.READ, 1.0)
    assert state.sessions.begin(token + "x", 1.0) is None
    state.tokens.revoke("a")
    assert state.sessions.begin(token, 1.0) is None


def test_a_session_ends(state: State) -> None:
    token = state.tokens.create("a", Role.READ, 1.0)
    first, second, third = (state.sessions.begin(token, 1.0) or "" for _ in range(3))
    state.sessions.end(first)
    assert state.sessions.find_holder(first, 2.0) is None
    assert state.sessions.find_holder(second, 1.0 + LONGEST) is not None
    assert state.sessions.find_holder(second, 2.0 + LONGEST) is None
    state.tokens.revoke("a")
    assert state.sessions.find_holder(third, 2.0) is None
    state.tokens.create("a", Role.OPERATE, 3.0)  # the same name is not the same token
    assert state.sessions.find_holder(third, 4.0) is None

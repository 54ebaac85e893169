"""The node that tests of installations have."""

from tests.install.conftest import world

__all__ = ["world"]

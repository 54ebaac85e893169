"""The far end of a deploy over SSH: it is carried to a node, and installs there."""

from __future__ import annotations

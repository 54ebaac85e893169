"""The far end of a deploy over SSH: carried to a node, it runs this node's installation there."""

from __future__ import annotations

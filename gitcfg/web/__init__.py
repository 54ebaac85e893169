"""The web pages of the server: what they say goes in, HTML comes out."""

from gitcfg.web.assets import Asset, find_asset
from gitcfg.web.content import Frame, Visitor
from gitcfg.web.page import POLICY, render_page

__all__ = ["POLICY", "Asset", "Frame", "Visitor", "find_asset", "render_page"]

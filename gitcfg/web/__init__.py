"""The web pages of the server: typed contents in, HTML out."""

from gitcfg.web.assets import Asset, find_asset
from gitcfg.web.content import Frame, Visitor
from gitcfg.web.page import POLICY, render_page

__all__ = ["POLICY", "Asset", "Frame", "Visitor", "find_asset", "render_page"]

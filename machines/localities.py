"""How far apart two ranks are: the classes of which machines state values."""

from __future__ import annotations

LOCALITIES = ("self", "same_socket", "same_node", "other_node")
"""From near to far; the position is the class id that the replay engine uses."""

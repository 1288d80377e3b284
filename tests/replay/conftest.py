"""Property tests here are about results: a busy machine must not fail them by the clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

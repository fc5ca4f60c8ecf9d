from __future__ import annotations

from tests.app.conftest import engine, finish, state

__all__ = ["engine", "finish", "state"]

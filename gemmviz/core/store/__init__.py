"""Results that last: one SQLite file, to which several programs may write at the same time."""

from gemmviz.core.store.files import StoreError, is_store
from gemmviz.core.store.rows import VERDICTS, Choices, Filter, Finding, Row
from gemmviz.core.store.store import ResultStore

__all__ = [
    "VERDICTS",
    "Choices",
    "Filter",
    "Finding",
    "ResultStore",
    "Row",
    "StoreError",
    "is_store",
]

"""The kernels to choose from: the catalogue's and those that a person has opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gemmviz.app.setup import DEFAULT_VARIANT
from gemmviz.core.catalog import Catalog, CatalogError, load_catalog, load_own
from gemmviz.core.model import Variant


class KernelShelf:
    """Reads kernels from their files, again and again, and finds the same one each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: dict[Path, Variant | None] = {}  # None while a file does not load

    def open(self, path: Path) -> Variant:
        """Adds a person's own kernel.

        Raises:
            CatalogError: It does not load.
        """
        variant = load_own(path)
        self._opened[path.resolve()] = variant  # once, whatever leads to it
        return variant

    def file_of(self, variant: Variant) -> Path | None:
        """The file of a person's own kernel; None of one of the catalogue."""
        return next((path for path, own in self._opened.items() if own == variant), None)

    def read(self, chosen: Variant | None) -> tuple[Catalog, Variant | None]:
        """Every kernel as its file is now, and what has become of ``chosen``.

        A person's own kernel is known by its file, any other by family and id; one that is gone
        has become None.
        """
        file = self.file_of(chosen) if chosen is not None else None
        catalog = load_catalog(self._folder)
        problems = list(catalog.problems)
        for path in self._opened:
            try:
                self._opened[path] = load_own(path)
            except CatalogError as error:
                self._opened[path] = None
                problems.append(error)
        own_kernels = tuple(own for own in self._opened.values() if own is not None)
        same = self._opened[file] if file is not None else _same(catalog.variants, chosen)
        return Catalog((*catalog.variants, *own_kernels), tuple(problems)), same


def default_kernel(catalog: Catalog) -> Variant | None:
    """The kernel to begin with; None where none could be loaded."""
    usual = (variant for variant in catalog.variants if variant.id == DEFAULT_VARIANT)
    return next(usual, None) or next(iter(catalog.variants), None)


def _same(variants: Sequence[Variant], chosen: Variant | None) -> Variant | None:
    if chosen is None:
        return None
    found = (v for v in variants if (v.family, v.id) == (chosen.family, chosen.id))
    return next(found, None)

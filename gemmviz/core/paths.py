"""Where the project's data files are and where the app may write."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import platformdirs

RESULTS_SUFFIX = ".gemmviz"
"""What the name of a results file ends in."""

_PACKAGE = Path(__file__).resolve().parent.parent


def data_dir(kind: str) -> Path:
    """The folder of ``kind`` ("kernels" or "resources"): inside the wheel, else in the checkout.

    Raises:
        FileNotFoundError: Neither place has it, so the installation is incomplete.
    """
    for folder in (_PACKAGE / "_data" / kind, _PACKAGE.parent / kind):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"gemmviz's {kind} folder is missing: install the package again")


@cache
def cache_dir() -> Path:
    """The app's cache folder, made if need be; everything in it can be deleted.

    Where none can be made in the person's own place it is a temporary one of this process.
    """
    try:
        folder = platformdirs.user_cache_path("gemmviz", appauthor=False, ensure_exists=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="gemmviz-"))


def results_file(number: int = 1) -> Path:
    """Where results are saved unless a person chooses a file; its folder may not exist yet.

    Args:
        number: 2 and more are for where the ones before cannot be written.
    """
    folder = platformdirs.user_data_path("gemmviz", appauthor=False)
    stem = "results" if number == 1 else f"results-{number}"
    return folder / f"{stem}{RESULTS_SUFFIX}"

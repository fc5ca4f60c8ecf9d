"""Loads a library's shared file, and says how to get it where that fails."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from gemmviz.core.libraries import LIBRARIES, find_file, not_installed
from gemmviz.core.model import Failure
from gemmviz.engine.discovery import DriverError

_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)\Z")


def load(name: str) -> tuple[ctypes.CDLL, str]:
    """Loads a library, and tells from which file.

    The file that was found in the usual folders comes first; then the system's loader is asked,
    which may know others.

    Raises:
        DriverError: It is not installed, or does not load.
    """
    found = find_file(name)
    said = []
    for file in ([str(found)] if found is not None else []) + list(LIBRARIES[name].files):
        try:
            return ctypes.CDLL(file), file
        except OSError as error:
            said.append(str(error))
    if found is None:
        raise DriverError(Failure("not_found", not_installed(name), "\n".join(said)))
    sentence = f"{LIBRARIES[name].title} is at {found} and does not load: {said[0]}."
    raise DriverError(Failure("not_found", sentence, "\n".join(said)))


def version_in_name(file: str) -> str:
    """The version at the end of the name that a link leads to: "1.5.3"; "" without one."""
    match = _VERSION.search(str(Path(file).resolve()))
    return match[1] if match is not None else ""

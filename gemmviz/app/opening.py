"""Opens whatever file a person hands over: results in any form, or a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gemmviz.app.state import AppState
from gemmviz.core.result_document import MOST_PICTURE_RESULTS, DocumentError, read_results
from gemmviz.core.result_source import kind_of

MOST_SHOWN = MOST_PICTURE_RESULTS
"""So many results of one document are added to the session; more belong in a results file."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What came of opening a file: a remark for the status bar, or a problem as a sentence."""

    remark: str = ""
    problem: str = ""


def open_file(state: AppState, path: Path) -> Opened:
    """Open a results file, an exported document, a picture with results, or a kernel's .toml."""
    if path.is_dir():
        return Opened(problem=f"{path.name} is a folder: open the files in it.")
    if path.suffix.lower() == ".cl":
        return Opened(problem=f"{path.name} is a kernel's source: open the .toml beside it.")
    try:
        kind = kind_of(path)
        if kind == "kernel":
            problem = state.open_kernel(path)
            if problem:
                return Opened(problem=f"{problem.removesuffix('.')}.")
            return Opened(f"Opened the kernel {path.stem}")
        if kind == "store":
            problem = state.archive.open(path)
            return Opened("" if problem else f"Opened {path.name}", problem)
        return _show(state, path)
    except DocumentError as error:
        return Opened(problem=str(error))


def _show(state: AppState, path: Path) -> Opened:
    """Add the results of a document to the session and show the first."""
    document = read_results(path)
    results = [result for _, result in document.results]
    if not results:
        return Opened(problem=f"There is no result in {path.name}.")
    if len(results) > MOST_SHOWN:
        return Opened(
            problem=f"{path.name} holds {len(results):,} results, and at most {MOST_SHOWN:,} can "
            "be shown at once."
        )
    state.archive.show(results)
    words = f"Opened {len(results)} result{'s' * (len(results) != 1)} of {path.name}"
    if document.thinned:
        words += "; only an even part of the samples is in it"
    return Opened(words)

"""Other handles on an open file do not release its locks, so no program removes the log in use."""

import subprocess
import sys
from pathlib import Path

import pytest

from gemmviz.core.result_source import kind_of
from gemmviz.core.store import ResultStore
from tests.core.store.saved import saved

OTHER = """
import sys
from pathlib import Path
from gemmviz.core.store import ResultStore
store = ResultStore.open(Path(sys.argv[1]))
print(len(store.rows()))
store.close()
"""


def seen_by_another_program(path: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.parametrize("look", ["kind", "again", "reading"])
def test_what_is_written_after_another_look_is_kept(tmp_path: Path, look: str) -> None:
    path = tmp_path / "a.gemmviz"
    store = ResultStore.open(path)
    store.add(saved())
    if look == "kind":
        assert kind_of(path) == "store"
    else:
        ResultStore.open(path, read_only=look == "reading").close()
    assert seen_by_another_program(path) == 1  # and it closes the file, as the last one if it may
    store.add(saved())
    assert seen_by_another_program(path) == 2
    store.close()


def test_a_file_that_is_closed_is_looked_at_with_care_again(tmp_path: Path) -> None:
    path = tmp_path / "a.gemmviz"
    ResultStore.open(path).close()
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])  # the same file, cut short
    assert "cut short" in ResultStore.open(path).problem

"""The import contracts of the layers, and the rules of the house that a machine can check."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "gemmviz").rglob("*.py"))


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()",
               "--no-cache"]  # fmt: skip
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_imports_keep_to_the_layers() -> None:
    done = _lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("core/bad.py", "from gemmviz.engine import plan"),
        ("core/bad.py", "import numpy, pyopencl"),
        ("engine/bad.py", "import PySide6.QtCore"),
        ("app/bad.py", "import gemmviz.engine.opencl"),
        ("app/bad.py", "import gemmviz.cli.run"),
        ("cli/bad.py", "import gemmviz.app.state"),
        ("cli/bad.py", "import gemmviz.views.main"),
        ("engine/plan.py", "import gemmviz.engine.opencl"),
    ],
)
def test_the_contracts_see_a_violation(tmp_path: Path, module: str, line: str) -> None:
    shutil.copytree(ROOT / "gemmviz", tmp_path / "gemmviz", ignore=shutil.ignore_patterns("__py*"))
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    assert _lint(tmp_path).returncode == 0
    with (tmp_path / "gemmviz" / module).open("a") as file:
        file.write(f"{line}\n")
    done = _lint(tmp_path)
    assert "BROKEN" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def _imports(path: Path) -> set[str]:
    """Every module that a file imports, with its packages: "PySide6.QtGui" and "PySide6"."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found | {name.partition(".")[0] for name in found}


def test_two_files_know_pyopencl() -> None:
    knowing = [path.name for path in SOURCES if "pyopencl" in _imports(path)]
    assert knowing == ["discovery.py", "opencl.py"]


def test_the_app_layer_knows_no_widgets() -> None:
    for path in (ROOT / "gemmviz" / "app").glob("*.py"):
        assert not {"PySide6.QtWidgets", "PySide6.QtGui", "pyqtgraph"} & _imports(path), path


def test_commands_start_without_qt_or_opencl() -> None:
    code = (
        "import sys; from gemmviz.cli.parser import run_command; run_command(['kernels']); "
        "bad = {'PySide6', 'pyqtgraph', 'pyopencl'} & set(sys.modules); assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

"""The import contracts of the layers, and the rules of the house that a machine can check."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "gemmviz").rglob("*.py"))


def test_imports_keep_to_the_layers() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()",
               "--no-cache"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_contracts_see_a_violation(tmp_path: Path) -> None:
    package = tmp_path / "gemmviz"
    for layer in ("core", "engine", "app", "views"):
        (package / layer).mkdir(parents=True)
        (package / layer / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "core" / "bad.py").write_text("from gemmviz.engine import anything\n")
    text = (ROOT / "pyproject.toml").read_text()
    (tmp_path / "pyproject.toml").write_text(text)
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()",
               "--no-cache"]  # fmt: skip
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )  # fmt: skip
    assert "BROKEN" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_one_file_knows_pyopencl() -> None:
    knowing = [path.name for path in SOURCES if "pyopencl" in _imports(path)]
    assert knowing == ["opencl.py"]


def test_the_app_layer_knows_no_widgets() -> None:
    for path in (ROOT / "gemmviz" / "app").glob("*.py"):
        text = path.read_text()
        assert not {"QtWidgets", "QtGui"} & set(text.split()), path


def test_commands_start_without_qt_or_opencl() -> None:
    code = (
        "import sys; from gemmviz.cli.parser import run_command; run_command(['kernels']); "
        "bad = {'PySide6', 'pyqtgraph', 'pyopencl'} & set(sys.modules); assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

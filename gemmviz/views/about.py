"""The dialog that names what the app is made of, with versions and licences."""

from __future__ import annotations

import importlib.metadata
import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QVBoxLayout, QWidget

from gemmviz import __version__
from gemmviz.views.roles import label

_PARTS = (
    ("PySide6-Essentials", "PySide6 (Qt for Python)", "LGPL-3.0"),
    ("pyqtgraph", "pyqtgraph", "MIT"),
    ("numpy", "NumPy", "BSD-3-Clause"),
    ("platformdirs", "platformdirs", "MIT"),
    ("pyopencl", "PyOpenCL", "MIT"),
    ("pocl-binary-distribution", "PoCL, an OpenCL driver for CPUs", "MIT"),
    ("intel-opencl-rt", "Intel's OpenCL driver for CPUs", "Intel's own licence"),
)
_FONTS = (("Inter", "OFL-1.1"), ("JetBrains Mono", "OFL-1.1"))


class AboutDialog(QDialog):
    """Versions as installed; a part that is not installed is left out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("About gemmviz")
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(4)
        rows = [("Python", platform.python_version(), "PSF-2.0"), ("Qt", qVersion(), "LGPL-3.0")]
        for package, name, licence in _PARTS:
            version = _version(package)
            if version is not None:
                rows.append((name, version, licence))
        rows.extend((f"{name}, the font", "", licence) for name, licence in _FONTS)
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                grid.addWidget(label(text, "" if column == 0 else "unit"), row, column)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_box = QVBoxLayout(self)
        column_box.setContentsMargins(20, 18, 20, 16)
        column_box.setSpacing(10)
        column_box.addWidget(label(f"gemmviz {__version__}", "figure"))
        column_box.addWidget(label("A profiler for OpenCL matrix multiplication. MIT licence."))
        column_box.addLayout(grid)
        column_box.addWidget(buttons)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None

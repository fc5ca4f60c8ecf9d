"""What to do where no OpenCL platform was found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from gemmviz.core.messages import Listing
from gemmviz.views.roles import label

_WAYS = (
    ("A processor, on any Linux x86-64", "pip install pocl-binary-distribution"),
    ("A processor, on Debian or Ubuntu", "apt install pocl-opencl-icd"),
    ("An NVIDIA GPU", "install NVIDIA's driver: OpenCL is part of it"),
    ("An AMD GPU", "install ROCm, or apt install mesa-opencl-icd"),
    ("An Intel GPU", "apt install intel-opencl-icd"),
)


class NoDevicePanel(QScrollArea):
    """How to get an OpenCL platform, and where one was looked for."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setSpacing(4)
        column.addWidget(label("No OpenCL platform found", "heading", wrap=True))
        column.addWidget(label("A platform is a driver for a device. How to get one:", wrap=True))
        for device, way in _WAYS:
            column.addSpacing(6)
            column.addWidget(label(device, "note", wrap=True))
            command = label(way, wrap=True)
            command.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(command)
        column.addSpacing(10)
        self.looked = label("", "note", wrap=True)
        self.looked.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(self.looked)
        again: QLabel = label("Then press F5 to look again.", wrap=True)
        column.addWidget(again)
        column.addStretch(1)
        self.setWidget(content)

    def show_listing(self, listing: Listing) -> None:
        """Say where drivers were looked for and what went wrong."""
        folders = "\n".join(listing.vendor_folders) or "no folder at all"
        problem = f"\n\n{listing.problem}" if listing.problem else ""
        self.looked.setText(f"Drivers were looked for in:\n{folders}{problem}")

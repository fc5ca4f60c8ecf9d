"""Says what a window lacks before Qt is asked, since Qt aborts the process instead of raising."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import socket
import sys
from pathlib import Path

_SPEC = importlib.util.find_spec("PySide6")
_PLUGINS = (
    Path(_SPEC.origin).parent / "Qt" / "plugins" / "platforms"
    if _SPEC is not None and _SPEC.origin is not None
    else Path("/nonexistent")
)
_PACKAGES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}
_NO_DISPLAY = (
    "gemmviz found no display (neither DISPLAY nor WAYLAND_DISPLAY is usable): start it from a "
    "desktop session, or use the commands, as `gemmviz run tiled`, which need none."
)


def missing_library() -> str | None:
    """One sentence on the library that Qt lacks and how to get it, or None."""
    try:
        from PySide6 import QtGui, QtWidgets  # noqa: F401, PLC0415 (the import is the test)
    except ImportError as error:
        return _missing_library(str(error))
    return None


def missing_display() -> str | None:
    """One sentence on what a window lacks and how to get it, or None."""
    missing = missing_library()
    if missing is not None or not sys.platform.startswith("linux"):
        return missing
    wanted = [part.partition(":")[0] for part in _chosen_plugins() if part]
    problems = [_plugin_problem(name) for name in wanted or ("wayland", "xcb")]
    return None if None in problems else problems[-1]


def _chosen_plugins() -> list[str]:
    return os.environ.get("QT_QPA_PLATFORM", "").split(";")


def _plugin_problem(name: str) -> str | None:
    """Why a platform plug-in of Qt cannot show a window, or None."""
    plugin = _PLUGINS / f"libq{name}.so"
    if name == "xcb":
        return _xcb_problem(plugin)
    if name.startswith("wayland"):
        return _wayland_problem()
    if not plugin.exists():
        return f"Qt has no platform plug-in {name!r}: unset QT_QPA_PLATFORM."
    return None


def _wayland_problem() -> str | None:
    """Whether a Wayland server listens where the environment says."""
    name = os.environ.get("WAYLAND_DISPLAY")
    if not name or not list(_PLUGINS.glob("libqwayland*.so")):
        return _NO_DISPLAY
    path = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / name
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(str(path))
    except OSError:
        return _NO_DISPLAY
    return None


def _missing_library(message: str) -> str:
    """The sentence for a failed load: names the Debian package of the missing library."""
    match = re.search(r"(lib[\w.+-]+\.so[\w.]*)", message)
    if match is None:
        return f"gemmviz cannot load Qt ({message}): `pip install PySide6-Essentials` brings it."
    package = _PACKAGES.get(match[1])
    how = f"`apt install {package}`" if package else "your distribution's package manager"
    return f"gemmviz's window needs {match[1]}, which is missing: get it with {how}."


def _xcb_problem(plugin: Path) -> str | None:
    """Whether Qt's X11 plug-in loads and the X server answers."""
    if not os.environ.get("DISPLAY"):
        return _NO_DISPLAY
    try:
        ctypes.CDLL(str(plugin))
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError as error:
        return _missing_library(str(error))
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    broken = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return _NO_DISPLAY if broken else None

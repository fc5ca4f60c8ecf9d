"""The item models of the access lens: every access of a kernel, and what other pads would give."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gemmviz.core.access.marks import access_tone
from gemmviz.core.access.report import Access, AccessReport, Pad
from gemmviz.core.units import memory

TONE_ROLE = Qt.ItemDataRole.UserRole + 1
""" "good", "warn", "bad" or "": what is thought of a row."""
BEST_ROLE = Qt.ItemDataRole.UserRole + 2
"""Whether a row is the best pad."""
ACCESS_ROLE = Qt.ItemDataRole.UserRole + 3
"""The index of a row's access in the report."""

Index = QModelIndex | QPersistentModelIndex
_NONE = "–"
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class AccessTableModel(QAbstractTableModel):
    """One row an access, in the order of the source."""

    HEADERS = ("Line", "Access", "Kind", "Cost", "Ideal", "Bytes", "Pattern")
    _NUMBERS = (0, 3, 4, 5)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._accesses: tuple[Access, ...] = ()

    def set_report(self, report: AccessReport | None) -> None:
        """Show the accesses of another kernel, or none."""
        self.beginResetModel()
        self._accesses = report.accesses if report is not None else ()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self._accesses)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self.HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADERS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section in self._NUMBERS else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        access = self._accesses[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cells(access)[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in self._NUMBERS else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(access)
        values = {TONE_ROLE: access_tone(access), ACCESS_ROLE: index.row()}
        return values.get(role)


def _cells(access: Access) -> tuple[str, ...]:
    if access.space == "local":
        cost = f"{_number(access.passes)} pass{'es' * (access.passes != 1)}"
        ideal = _number(access.ideal_passes)
    else:
        cost = f"{_number(access.sectors)} sector{'s' * (access.sectors != 1)}"
        ideal = _number(access.ideal_sectors)
    return (
        str(access.line), access.text or access.array, f"{access.space} {access.kind}", cost,
        ideal, memory(access.bytes_per_group), access.pattern,
    )  # fmt: skip


def _number(count: int | None) -> str:
    return _NONE if count is None else str(count)


def _tip(access: Access) -> str:
    """All of an access, for a person who points at it."""
    lines = [f"{access.text} in line {access.line}: {access.kind}, {access.space} memory"]
    if access.space == "global":
        lines.append(
            f"worst warp {_number(access.sectors)} sectors of 32 bytes, "
            f"{_number(access.lines)} lines of 128; mean {_mean(access.sectors_mean)} sectors"
        )
    else:
        lines.append(
            f"worst warp {_number(access.passes)} passes, mean {_mean(access.passes_mean)}"
        )
    lines.append(f"executed {access.executions:,} times by the warps of a group")
    lines.append(
        f"a group asks for {memory(access.bytes_per_group)}, "
        f"{memory(access.distinct_bytes)} of them distinct"
    )
    lines.append(access.pattern)
    return "\n".join(lines)


def _mean(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


class PadTableModel(QAbstractTableModel):
    """One row a pad of the local arrays' rows; the best takes the fewest passes, then bytes."""

    HEADERS = ("Pad", "Passes", "Worst", "Local")

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pads: tuple[Pad, ...] = ()
        self._accesses: tuple[Access, ...] = ()
        self._best: Pad | None = None

    @property
    def best(self) -> Pad | None:
        """The pad with the fewest passes, of these the one with the fewest bytes."""
        return self._best

    def set_pads(self, pads: tuple[Pad, ...], report: AccessReport | None) -> None:
        """Show other pads with the report that they belong to, or none."""
        self.beginResetModel()
        self._pads = pads
        self._accesses = report.accesses if report is not None else ()
        self._best = min(
            pads, key=lambda pad: (pad.total_passes, pad.local_bytes, pad.pad), default=None
        )
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self._pads)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """See QAbstractItemModel."""
        return 0 if parent.isValid() else len(self.HEADERS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """See QAbstractItemModel."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADERS[section]
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """See QAbstractItemModel."""
        if not index.isValid():
            return None
        pad = self._pads[index.row()]
        best = pad is self._best
        if role == Qt.ItemDataRole.DisplayRole:
            worst = max((passes for _, passes in pad.passes), default=0)
            mark = "✓ " if best else ""
            return (
                f"{mark}+{pad.pad}", f"{pad.total_passes:,}", str(worst), memory(pad.local_bytes)
            )[index.column()]  # fmt: skip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join([f"Local rows {pad.pad} elements longer", *self._each(pad)])
        return {TONE_ROLE: "good" if best else "", BEST_ROLE: best}.get(role)

    def _each(self, pad: Pad) -> list[str]:
        """The passes of each local access, a line each."""
        return [
            f"{self._accesses[at].text}, line {self._accesses[at].line}: {passes} "
            f"pass{'es' * (passes != 1)}"
            for at, passes in pad.passes
        ]

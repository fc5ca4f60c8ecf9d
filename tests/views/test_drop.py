"""Files that are dropped on the real window, good ones and traps."""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QGraphicsView, QMessageBox

from gemmviz.app.opening import MOST_SHOWN
from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.codec import to_json
from gemmviz.core.paths import data_dir
from gemmviz.core.png_text import SIGNATURE
from gemmviz.core.result_document import FORMAT, document_parts, picture_text
from gemmviz.views.charts.gallery import draw_exhibit
from gemmviz.views.charts.picture import draw_result_png
from gemmviz.views.main_window import MainWindow
from gemmviz.views.theme import DARK
from tests.app.archives import settled
from tests.app.fake_engine import FakeEngine
from tests.core.store.saved import filled, saved

_NOTHING = Qt.KeyboardModifier.NoModifier
_COPY, _LEFT = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def one_window(qapp):
    """The real window, which takes two seconds to make."""
    state = AppState(Workers(FakeEngine()), data_dir("kernels"))
    made = MainWindow(state, DARK)
    made.resize(1200, 800)
    made.show()
    made.complete()
    state.load_kernels()
    state.list_devices()
    yield made
    made.close()


@pytest.fixture
def window(qtbot, one_window):
    """The window with no run in it and nothing said."""
    qtbot.waitUntil(lambda: one_window.state.listing is not None)
    one_window.state.book.clear()
    yield one_window
    for box in one_window.findChildren(QMessageBox):
        box.close()


def carried(*paths: Path | str) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def enter(window, data: QMimeData) -> bool:
    """Drag something in and over the window; whether it takes it."""
    taken = []
    for kind in (QDragEnterEvent, QDragMoveEvent):
        event = kind(QPoint(300, 300), _COPY, data, _LEFT, _NOTHING)
        event.ignore()
        QApplication.sendEvent(window, event)
        taken.append(event.isAccepted())
    assert taken[0] == taken[1]
    return taken[0]


def drop(qtbot, window, *paths: Path | str) -> None:
    """Drag files over the window and let them fall."""
    data = carried(*paths)
    assert enter(window, data)
    event = QDropEvent(QPointF(300, 300), _COPY, data, _LEFT, _NOTHING)
    event.ignore()
    QApplication.sendEvent(window, event)
    assert event.isAccepted()
    qtbot.waitUntil(lambda: not window.drop._paths)
    settled(window.state)


def open_file(window, path: Path) -> tuple[str, str]:
    """Opens a file; returns the remark and the problem, each or ""."""
    told = []
    window.drop.opener.ended.connect(told.append)
    window.drop.opener.open([path])
    settled(window.state)
    window.drop.opener.ended.disconnect(told.append)
    return "; ".join(told[0].remarks), "; ".join(told[0].problems)


def complaint(window) -> str:
    """What the window says could not be opened, or ""."""
    boxes = [box for box in window.findChildren(QMessageBox) if box.isVisible()]
    return boxes[-1].text() if boxes else ""


def test_a_picture_opens_as_the_run_it_shows(qtbot, window, tmp_path):
    path = tmp_path / "chart.png"
    draw_result_png(saved(256), path)
    with qtbot.waitSignal(window.drop.told) as said:
        drop(qtbot, window, path)
    assert said.args == ["Opened 1 result of chart.png"]
    (run,) = window.state.book.runs
    assert window.state.shown is run
    assert run.job.problem.m == 256
    assert len(run.buffer) == 12
    assert window.tabs.currentWidget() is window.tabs.live
    assert window.cards.verdict.figure.text() == "✓ verified"
    assert window.statusBar().currentMessage() == said.args[0]
    assert complaint(window) == ""


def test_a_picture_opens_twice_as_two_runs(qtbot, window, tmp_path):
    path = tmp_path / "chart.png"
    draw_result_png(saved(256), path)
    drop(qtbot, window, path, path)
    first, second = window.state.book.runs
    assert first.job.id != second.job.id


def test_an_exported_document_opens_all_its_results(qtbot, window, tmp_path):
    path = tmp_path / "r.json"
    path.write_text("".join(document_parts([(4, saved(64)), (9, saved(128))])))
    drop(qtbot, window, path)
    assert [run.job.problem.m for run in window.state.book.runs] == [64, 128]
    assert window.state.shown is window.state.book.runs[0]
    assert window.tabs.currentWidget() is window.tabs.results


def test_a_thinned_picture_says_that_samples_are_missing(window, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(picture_text([saved(count=500)], 50))
    assert "even part of the samples" in open_file(window, path)[0]
    assert len(window.state.book.runs[0].buffer) <= 50


def test_a_results_file_opens_as_the_one_to_write_into(qtbot, window, tmp_path):
    path = tmp_path / "mine.gemmviz"
    filled(path, 3)
    drop(qtbot, window, path)
    assert window.state.archive.path == path
    assert complaint(window) == ""


def test_a_kernel_opens_and_is_chosen(qtbot, window, tmp_path):
    for end in (".toml", ".cl"):
        shutil.copy(data_dir("kernels") / f"tiled{end}", tmp_path / f"mine{end}")
    drop(qtbot, window, tmp_path / "mine.toml")
    assert window.state.setup.variant.id == "mine"


def test_a_hint_covers_the_window_while_files_are_over_it(window, tmp_path):
    assert window.drop.isHidden()
    assert enter(window, carried(tmp_path / "a.png"))
    assert window.drop.isVisible()
    assert window.drop.geometry() == window.rect()
    middle = window.drop.grab().toImage().pixelColor(window.drop.rect().center())
    assert middle.isValid()
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert window.drop.isHidden()


def test_what_is_no_file_is_left_alone(window):
    text, link = QMimeData(), QMimeData()
    text.setText("some words")
    link.setUrls([QUrl("https://example.org/chart.png")])
    for data in (text, link):
        assert not enter(window, data)
        assert window.drop.isHidden()


def test_charts_leave_what_is_dropped_to_the_window(window):
    views = window.findChildren(QGraphicsView)
    assert len(views) > 5
    for view in views:
        assert not view.acceptDrops()
        assert not view.viewport().acceptDrops()


# Traps


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(text: bytes, packed: bool = True) -> bytes:
    """A picture whose text chunk holds anything."""
    body = b"\0" + zlib.compress(text, 9) if packed else text
    return SIGNATURE + chunk(b"zTXt" if packed else b"tEXt", b"gemmviz\0" + body)


def entry(**changes) -> bytes:
    """A document of one result with other values than any run has."""
    result = {**to_json(saved()), **changes}
    document = {"format": FORMAT, "version": 1, "results": [{"result": result}]}
    return json.dumps(document).encode()


def test_a_drawing_opens_as_the_run_it_shows(qtbot, window, tmp_path):
    path = tmp_path / "chart.svg"
    draw_exhibit("live", [saved(256)], path)
    drop(qtbot, window, path)
    (run,) = window.state.book.runs
    assert run.job.problem.m == 256
    assert complaint(window) == ""


@pytest.mark.parametrize(
    "trap",
    [
        ("plain.png", SIGNATURE + chunk(b"IEND", b""), "a picture without results"),
        ("short.png", SIGNATURE + b"\0\0", "it ends before the picture does"),
        ("nonsense.png", png(b"\x01\x02 nonsense"), "it is not JSON"),
        ("bomb.png", png(b"[" * (65 * 2**20)), "which is too much"),
        ("deep.png", png(b"[" * 200_000), "it is not JSON"),
        ("other.png", png(b'{"format": "x"}', packed=False), "holds no results of gemmviz"),
        ("moment.png", png(entry(finished_at=1e99)), "ended at no possible time"),
        ("samples.png", png(entry(samples={"launches": [0], "seconds": [1.0], "at": [1.0]})),
         "without a launch"),
        ("bomb.svg", b'<!DOCTYPE s [<!ENTITY a "aa">]><svg><metadata id="gemmviz">&a;</metadata>',
         "declares a document type"),
        ("plain.svg", b"<svg></svg>", "a picture without results"),
        ("empty.json", b"", "it is not JSON"),
        ("none.json", b'{"format": "gemmviz results", "version": 1, "results": []}',
         "no result in none.json"),
        ("damaged.gemmviz", b"SQLite format 3\0" + b"\xff" * 5000, "damaged.gemmviz"),
        ("kernel.cl", b"__kernel void x() {}", "open the .toml beside it"),
        ("broken.toml", b"title = ", "broken.toml"),
        ("movie.mp4", b"\0\0\0\x20ftypisom", "it is not JSON"),
    ],
    ids=lambda trap: trap[0],
)  # fmt: skip
def test_a_bad_file_gives_one_sentence_and_the_app_lives_on(qtbot, window, tmp_path, trap):
    name, data, words = trap
    (tmp_path / name).write_bytes(data)
    drop(qtbot, window, tmp_path / name)
    said = complaint(window)
    assert words in said
    assert said.endswith(".")
    assert "\n" not in said
    assert window.state.book.runs == []
    good = tmp_path / "good.json"
    good.write_text("".join(document_parts([(1, saved())])))
    assert open_file(window, good) == ("Opened 1 result of good.json", "")


def test_what_is_missing_or_a_folder_is_said(window, tmp_path):
    assert "cannot be read" in open_file(window, tmp_path / "missing.png")[1]
    assert "is a folder" in open_file(window, tmp_path)[1]


def test_more_results_than_a_session_takes_are_refused(window, tmp_path, monkeypatch):
    assert MOST_SHOWN >= 100
    monkeypatch.setattr("gemmviz.app.opening.MOST_SHOWN", 2)
    path = tmp_path / "r.json"
    path.write_text("".join(document_parts([(n, saved()) for n in range(3)])))
    assert "holds 3 results" in open_file(window, path)[1]
    assert window.state.book.runs == []


def test_a_strange_kernel_in_a_result_is_shown_and_harms_nothing(qtbot, window, tmp_path):
    """Formulas, names and texts that a kernel's file could never have."""
    result = to_json(saved())
    result["job"]["variant"] |= {
        "title": "<b>bold</b>\n" * 3, "group": ["1 // 0", "M ** M"],
        "tile_rows": "__import__('os')", "local_bytes": "(" * 500, "dims": ["sideways"],
        "arguments": [], "shapes": "round",
        "family": "none", "expect": "nothing",
    }  # fmt: skip
    result["device"] |= {"name": "<img src=x>", "type": "toaster", "elements": []}
    path = tmp_path / "strange.json"
    path.write_text(json.dumps({"format": FORMAT, "version": 1, "results": [{"result": result}]}))
    drop(qtbot, window, path)
    assert complaint(window) == ""
    (run,) = window.state.book.runs
    for place in range(window.tabs.count()):
        window.tabs.setCurrentIndex(place)
        QApplication.processEvents()
    assert window.state.shown is run
    assert run.job.variant.group == ("1 // 0", "M ** M")

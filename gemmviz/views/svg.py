"""Draws a chart as SVG and makes that small, and the same in every program that shows it.

Qt's own way loses clips, writes empty groups and a clip path for each item, names a font that few
machines have, and writes text with a rim nine times. Here items are drawn one by one, and each text
comes out once, as wide as Qt measured it whatever font a viewer takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from gemmviz.core.result_document import PICTURE_KEY
from gemmviz.views.charts.chart import HALO_PIXELS, Chart
from gemmviz.views.theme import MONO_FAMILY, TEXT_FAMILY

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_FAMILIES = {
    TEXT_FAMILY: f"{TEXT_FAMILY}, system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    MONO_FAMILY: f"{MONO_FAMILY}, Consolas, Menlo, monospace",
}
_INHERITED = ("font-family", "font-size", "font-weight", "font-style")
_NOISE = ("vector-effect", "fill-rule")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LEAST_RIM = 3  # so many equal texts in a row are a rim and what it surrounds

ET.register_namespace("", _SVG)
ET.register_namespace("xlink", _XLINK)


def draw_items(chart: Chart, drawing: QSvgGenerator) -> None:
    """Draw a chart item by item, each with a clip of its own, which QGraphicsView would mix up."""
    painter = QPainter(drawing)
    painter.setRenderHints(chart.renderHints())
    whole = QRectF(0, 0, chart.width(), chart.height())
    painter.fillRect(whole, chart.backgroundBrush())
    for item in chart.scene().items(Qt.SortOrder.AscendingOrder):
        if not item.isVisible() or item.flags() & QGraphicsItem.GraphicsItemFlag.ItemHasNoContents:
            continue
        painter.resetTransform()
        area = _clip_of(item, chart, whole)
        painter.setClipping(False)
        if area != whole:
            painter.setClipRect(area)
        painter.save()
        painter.setTransform(item.deviceTransform(chart.viewportTransform()))
        painter.setOpacity(item.effectiveOpacity())
        option = QStyleOptionGraphicsItem()
        option.rect = item.boundingRect().toAlignedRect()
        option.exposedRect = item.boundingRect()
        item.paint(painter, option, None)
        painter.restore()
    painter.resetTransform()
    painter.setClipping(False)
    chart.drawForeground(painter, whole)
    painter.end()


def _clip_of(item: QGraphicsItem, chart: Chart, whole: QRectF) -> QRectF:
    """The part of the picture that the plots around an item leave to it."""
    clips, parent = QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape, item.parentItem()
    area = whole
    while parent is not None:
        if parent.flags() & clips:
            shape = parent.deviceTransform(chart.viewportTransform()).mapRect(
                parent.shape().boundingRect()
            )
            area = area.intersected(shape)
        parent = parent.parentItem()
    return area


def tidied(svg: bytes, title: str, width: int, height: int, text: str = "") -> bytes:
    """The drawing with a title, a size in pixels, and text that every viewer can show.

    Args:
        svg: As QSvgGenerator wrote it; nobody else's.
        title: Of the document.
        width: In pixels, as the drawing's own units are.
        height: In pixels.
        text: What it carries in its metadata; see :mod:`gemmviz.core.svg_text`.
    """
    # Qt passes on what XML has no place for, as a title may hold it.
    whole = _NO_XML.sub("", svg.decode("utf-8", "replace"))
    root = ET.fromstring(whole.encode())  # noqa: S314 (written by Qt a moment ago)
    root.set("width", str(width))
    root.set("height", str(height))
    for child in list(root):
        if child.tag in (_tag("title"), _tag("desc")):
            root.remove(child)
    named = ET.Element(_tag("title"))
    named.text = _NO_XML.sub("", title)
    root.insert(0, named)
    _free_text(root)
    _tidy_attributes(root)
    _drop_empty(root)
    _drop_unused_clips(root)
    for words in list(root.iter(_tag("text"))):
        _fit(words)
    _join_rims(root)
    _drop_empty(root)
    if text:
        carried = ET.Element(_tag("metadata"), {"id": PICTURE_KEY})
        carried.text, carried.tail = text, "\n"
        root.insert(1, carried)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _tag(name: str) -> str:
    return f"{{{_SVG}}}{name}"


def _free_text(root: ET.Element) -> None:
    """Take clips off groups of text, which would be cut where another font is wider."""
    for group in root.iter(_tag("g")):
        if "clip-path" in group.attrib and next(group.iter(_tag("text")), None) is not None:
            del group.attrib["clip-path"]


def _tidy_attributes(root: ET.Element) -> None:
    """Leave out what says nothing, and keep pixels of images apart as they are on the screen."""
    for element in root.iter():
        for name in _NOISE:
            if element.get(name) in ("none", "evenodd"):
                del element.attrib[name]
        if element.tag == _tag("g"):  # a text's own undoes that of its group
            for name in ("fill-opacity", "stroke-opacity"):
                if element.get(name) == "1":
                    del element.attrib[name]
        if element.get("transform") == "matrix(1,0,0,1,0,0)":
            del element.attrib["transform"]
        if element.tag == _tag("image"):
            element.set("style", "image-rendering:optimizeSpeed;image-rendering:pixelated")
        if element.tag == _tag("g"):
            for name in _INHERITED:  # each text has its own
                element.attrib.pop(name, None)
        element.tail = "\n"
        if element.tag == _tag("g"):
            element.text = ""


def _drop_empty(root: ET.Element) -> None:
    """Leave out groups in which nothing is drawn."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == _tag("g") and not any(_drawn(child)):
                parent.remove(child)


def _drawn(group: ET.Element) -> Iterator[bool]:
    return (element.tag != _tag("g") for element in group.iter())


def _drop_unused_clips(root: ET.Element) -> None:
    """Leave out the clip paths that no group asks for any more."""
    used = {group.get("clip-path", "") for group in root.iter(_tag("g"))}
    for holder in root.iter(_tag("defs")):
        for clip in list(holder):
            if clip.tag == _tag("clipPath") and f"url(#{clip.get('id')})" not in used:
                holder.remove(clip)


def _fit(text: ET.Element) -> None:
    """Name fonts to fall back on, and have the text as wide as it was drawn."""
    family, size = text.get("font-family", ""), float(text.get("font-size", "12"))
    words = text.text or ""
    font = QFont(family)
    font.setPixelSize(max(1, round(size)))
    font.setWeight(QFont.Weight(int(text.get("font-weight", "400"))))
    font.setFeature(QFont.Tag("tnum"), 1)
    wide = QFontMetricsF(font).horizontalAdvance(words)
    text.set("font-family", _FAMILIES.get(family, family))
    if len(words.strip()) > 1:
        text.set("textLength", f"{wide:.1f}")
        text.set("lengthAdjust", "spacingAndGlyphs")
    text.set("style", "font-variant-numeric:tabular-nums")


def _join_rims(root: ET.Element) -> None:
    """One text with a stroke in place of the eight in the panel's colour below it."""
    texts = [
        (parent, element)
        for parent in root.iter(_tag("g"))
        for element in parent
        if element.tag == _tag("text")
    ]
    start = 0
    while start < len(texts):
        end = start
        while end + 1 < len(texts) and _same_place(texts[start], texts[end + 1]):
            end += 1
        if end - start >= _LEAST_RIM and texts[start][1].get("fill") != texts[end][1].get("fill"):
            rim, ink = texts[start][1], texts[end][1]
            ink.set("stroke", rim.get("fill", "none"))
            ink.set("stroke-width", f"{2 * HALO_PIXELS:g}")
            ink.set("stroke-linejoin", "round")
            ink.set("paint-order", "stroke")
            for parent, element in texts[start:end]:
                parent.remove(element)
        start = end + 1


def _same_place(one: tuple[ET.Element, ET.Element], other: tuple[ET.Element, ET.Element]) -> bool:
    """Whether two texts, each with its group, are equal and at most a rim apart."""
    (group, text), (next_group, next_text) = one, other
    if text.text != next_text.text or group.get("transform") != next_group.get("transform"):
        return False
    return all(
        abs(float(text.get(name, "0")) - float(next_text.get(name, "0"))) <= 2 * HALO_PIXELS + 0.1
        for name in ("x", "y")
    )

"""The charts: each takes frozen results and draws them."""

from __future__ import annotations

import PySide6.QtCore  # noqa: F401  # first: pyqtgraph takes the Qt binding that it finds loaded

from gemmviz.views.charts.access_map import AccessMapChart
from gemmviz.views.charts.advice import AdviceChart
from gemmviz.views.charts.chart import Chart
from gemmviz.views.charts.claims import ClaimsChart
from gemmviz.views.charts.compare import CompareChart
from gemmviz.views.charts.devices import DevicesChart
from gemmviz.views.charts.distribution import DistributionChart
from gemmviz.views.charts.error_map import ErrorMapChart
from gemmviz.views.charts.heat_map import HeatMapChart
from gemmviz.views.charts.ladder import LadderChart
from gemmviz.views.charts.live import LiveChart
from gemmviz.views.charts.roofline import RooflineChart
from gemmviz.views.charts.steps import StepsChart

CHARTS: tuple[tuple[str, type[Chart]], ...] = (
    ("Live", LiveChart),
    ("Distribution", DistributionChart),
    ("Error map", ErrorMapChart),
    ("Compare", CompareChart),
    ("Devices", DevicesChart),
    ("Access", AccessMapChart),
    ("Occupancy", StepsChart),
    ("Roofline", RooflineChart),
    ("Ladder", LadderChart),
    ("Sweep", HeatMapChart),
    ("Advice", AdviceChart),
    ("Claims", ClaimsChart),
)
"""Every chart with the title of its tab; a new one is a class, a row, and the panel of its tab."""

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
from gemmviz.views.tab_titles import CHART_TITLES

_KINDS: tuple[type[Chart], ...] = (
    LiveChart, DistributionChart, ErrorMapChart, CompareChart, DevicesChart, AccessMapChart,
    StepsChart, RooflineChart, LadderChart, HeatMapChart, AdviceChart, ClaimsChart,
)  # fmt: skip
CHARTS = tuple(zip(CHART_TITLES, _KINDS, strict=True))
"""Every chart with the title of its tab; a new one is a class, a title, and a panel in the tabs."""

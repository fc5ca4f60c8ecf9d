"""What the tabs are called, for the window that shows their titles before there are charts."""

from __future__ import annotations

CHART_TITLES = (
    "Live", "Distribution", "Error map", "Compare", "Devices", "Access", "Occupancy", "Roofline",
    "Ladder", "Sweep", "Advice", "Claims",
)  # fmt: skip
"""Of the charts, in their order."""
TAB_TITLES = (*CHART_TITLES, "Results")

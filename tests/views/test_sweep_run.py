from __future__ import annotations

from dataclasses import replace

from gemmviz.app.state import AppState
from gemmviz.app.worker import Workers
from gemmviz.core.paths import data_dir
from gemmviz.core.policy import fixed
from gemmviz.engine.plan import Engine
from gemmviz.views.sweep_panel import SweepPanel
from tests.core.sweeps import kernel


def test_a_sweep_of_a_real_kernel_on_pocl(qtbot):
    """Through the window's own parts: ticked, counted, measured, shown and opened."""
    state = AppState(Workers(Engine()), data_dir("kernels"))
    panel = None
    try:
        state.load_kernels()
        state.list_devices()
        qtbot.waitUntil(lambda: state.listing is not None, timeout=30_000)
        device = next(each for each in state.devices if "Portable" in each.platform)
        state.select_device(device)
        state.choose_variant(kernel("tiled"))
        state.change(state.setup.with_all_sizes(64))
        panel = SweepPanel(state)
        qtbot.addWidget(panel)
        panel.show()
        panel.trial.change(
            replace(panel.trial.draft, policy=fixed(5), left_out=frozenset(
                ("tiled", "TS", size) for size in (4, 32)
            ))
        )  # fmt: skip
        words = panel.words
        qtbot.waitUntil(lambda: words.text().startswith("2 configurations, about"), timeout=20_000)
        panel.start.click()
        qtbot.waitUntil(lambda: not panel.trial.running, timeout=60_000)
        panel.catch_up()
        assert not panel.trial.failed, panel.trial.note
        cells = panel.trial.report.cells
        assert len(cells) == 2
        assert {cell.state for cell in cells} <= {"measured", "dropped"}
        (winner,) = panel.trial.report.winners
        assert panel.words.text() == winner.words
        grid = panel.views.heat.grid
        assert [place.value > 0 for place in grid.cells] == [True] * 2
        assert [place.recommended for place in grid.cells].count(True) == 1
        panel.views.heat.cell_clicked.emit(cells[0])
        panel.details.open.click()
        assert state.shown.job.parameters == cells[0].configuration.parameters
        assert state.shown.check.verdict == "verified"
        assert len(panel.results()) == 2
    finally:
        if panel is not None:
            panel.trial.close()
        state.close()

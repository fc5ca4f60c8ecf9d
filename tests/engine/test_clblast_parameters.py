"""CLBlast's own parameters: told, given for a while, and given back; nothing is compiled."""

from dataclasses import replace

import pytest

from gemmviz.core.model import Device
from gemmviz.engine.discovery import DriverError
from gemmviz.engine.libraries import clblast
from gemmviz.engine.libraries.clblast import ClBlast
from gemmviz.engine.libraries.clblast_parameters import (
    _retrieved,
    always_xgemm,
    give,
    kernel_chosen,
    shipped,
)
from gemmviz.engine.libraries.loading import load
from gemmviz.engine.opencl import Session
from tests.engine.runs import make_job


@pytest.fixture(scope="module")
def session(pocl: Device) -> Session:
    return Session(pocl.key)


def test_they_are_told_given_and_given_back(session: Session) -> None:
    library, device = load("clblast")[0], session.device_pointer
    own = shipped(library, device, "double")
    assert own["Xgemm"].keys() >= {"MWG", "NWG", "KWG", "MDIMC", "VWM", "SA", "SB"}
    given = always_xgemm(own, {"MWG": 2 * own["Xgemm"]["MWG"]})
    assert give(library, device, "double", given) == 0
    assert _retrieved(library, device, "Xgemm", "double") == given["Xgemm"] != own["Xgemm"]
    assert (
        _retrieved(library, device, "Xgemm", "float") == shipped(library, device, "float")["Xgemm"]
    )
    assert shipped(library, device, "double") == own
    assert give(library, device, "double", own) == 0
    for kernel, parameters in own.items():
        assert _retrieved(library, device, kernel, "double") == parameters
    half_good = {**given, "GemmRoutine": {"MWG": 8}}  # which is none of its own
    assert give(library, device, "double", half_good) < 0
    assert give(library, device, "double", own) == 0
    assert _retrieved(library, device, "Xgemm", "double") == own["Xgemm"]


def test_which_kernel_runs_depends_on_the_size(session: Session) -> None:
    own = shipped(load("clblast")[0], session.device_pointer, "float")
    least = own["GemmRoutine"]["XGEMM_MIN_INDIRECT_SIZE"]
    assert kernel_chosen(own, least, least, least - 1) == "XgemmDirect"
    assert kernel_chosen(own, least, least, least) == "Xgemm"
    assert kernel_chosen(always_xgemm(own, {}), 1, 1, 1) == "Xgemm"
    assert kernel_chosen({}, 64, 64, 64) == ""


def test_a_parameter_that_it_has_not_is_refused(session: Session, pocl: Device) -> None:
    job = make_job(pocl, "clblast_tuned", (17, 33, 65))
    with pytest.raises(DriverError) as caught:
        ClBlast(replace(job, parameters=(*job.parameters, ("XWG", 8))), session)
    assert "has no parameter XWG" in caught.value.failure.sentence


def test_a_clblast_that_does_not_tell_can_be_given_none(
    session: Session, pocl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clblast, "shipped", lambda *_: {})
    job = make_job(pocl, "clblast_tuned", (17, 33, 65))
    with pytest.raises(DriverError) as caught:
        ClBlast(job, session)
    assert "does not tell its parameters" in caught.value.failure.sentence
    assert ClBlast(make_job(pocl, "clblast"), session).library.kernel == ""

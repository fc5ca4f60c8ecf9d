"""A source, which may be a stranger's, reads no file of this machine."""

from __future__ import annotations

import pytest

from gemmviz.core.access.errors import LensError
from gemmviz.core.access.source import preprocess


@pytest.mark.parametrize("quotes", ['"{}"', "<{}>"])
def test_an_include_reads_nothing(tmp_path, quotes):
    secret = tmp_path / "secret.h"
    secret.write_text("int secret;\n")
    include = quotes.format(secret)
    with pytest.raises(LensError, match=r"secret\.h"):
        preprocess(f'#line 1 "tiled.cl"\n#include {include}\n__kernel void tiled() {{}}\n')

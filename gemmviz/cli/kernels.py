"""``gemmviz kernels``: the kernel variants with their parameters and findings."""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

from gemmviz.cli.selection import say
from gemmviz.core.catalog import load_catalog
from gemmviz.core.codec import to_json
from gemmviz.core.libraries import absence
from gemmviz.core.model import Variant
from gemmviz.core.paths import data_dir


def add_parser(commands: Any) -> None:
    """Adds the command's words."""
    parser = commands.add_parser("kernels", help="list kernel variants")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(answer=answer)


def _mark(variant: Variant) -> str:
    """What was found of a variant that is not right everywhere, or why a library is not there."""
    if absence(variant):
        return f"  [{absence(variant)}]"
    if variant.expect == "wrong":
        return f"  [wrong as published, but where {variant.right_when}]"
    rules = {
        "exact": f"M a multiple of {variant.tile_rows}, N of {variant.tile_cols}",
        "square": "M = N = K",
    }
    where = [rules[variant.shapes]] if variant.shapes in rules else []
    where += [rule for rule in (variant.right_when,) if rule]
    return f"  [only where {' and '.join(where)}]" if where else ""


def answer(arguments: argparse.Namespace) -> int:
    """Prints the variants, and on stderr the files that do not load."""
    catalog = load_catalog(data_dir("kernels"))
    if arguments.json:
        listed = [to_json(variant) for variant in catalog.variants]
        for entry, variant in zip(listed, catalog.variants, strict=True):
            del entry["source"]
            entry["why_not"] = absence(variant)
        print(json.dumps(listed, indent=2))
    else:
        for family, variants in itertools.groupby(catalog.variants, lambda v: v.family):
            print(family)
            for variant in variants:
                mark = _mark(variant)
                print(f"  {variant.id:<22}{variant.summary}{mark}")
                for parameter in variant.parameters:
                    values = " ".join(map(str, parameter.values))
                    text = f"{parameter.name}={parameter.default} of {values}"
                    print(f"  {'':<22}  {text:<28}{parameter.help}")
    for problem in catalog.problems:
        say(str(problem))
    return 2 if catalog.problems else 0

"""A row of the table that the benchmarks print."""

import json


def row(name: str, value: float, unit: str, target: float, *, most: bool = True) -> None:
    """Prints one measured figure beside its target, an upper limit unless ``most`` is False."""
    print(json.dumps({"name": name, "value": value, "unit": unit, "target": target, "most": most}))

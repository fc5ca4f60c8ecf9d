"""Runs each benchmark in a process of its own on a virtual screen and prints one table."""

import json
import subprocess
import sys

from tests.e2e.screen import Screen

NAMES = ("startup", "estimates", "stops", "ticks", "flood")


def main() -> None:
    chosen = sys.argv[1:] or list(NAMES)
    print(f"{'benchmark':<52}{'measured':>12}{'target':>12}")
    with Screen() as screen:
        for name in chosen:
            done = subprocess.run(
                [sys.executable, "-m", f"tests.benchmarks.{name}"],
                env=screen.environment, stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            for line in done.stdout.splitlines():
                row = json.loads(line)
                limit, value = row["target"], row["value"]
                met = value <= limit if row["most"] else value >= limit
                sign = "<=" if row["most"] else ">="
                target = f"{sign} {limit:g}"
                text = f"{row['name']} ({row['unit']})"
                print(f"{text:<52}{value:>12.3g}{target:>12}  {'' if met else 'MISSED'}")


if __name__ == "__main__":
    main()

"""Runs benchmarks in processes of their own on a virtual screen and prints one table.

``python -m tests.benchmarks [NAME [ARGUMENT ...] ...]``; without a name, those that take seconds.
"""

import json
import subprocess
import sys

from tests.e2e.screen import Screen

QUICK = ("startup", "estimates", "stops", "ticks", "flood")
LONG = ("archive", "ceilings", "duels", "fuzz", "searches", "soak", "sweeps")


def main() -> None:
    chosen: list[list[str]] = []
    for word in sys.argv[1:] or QUICK:
        if word in (*QUICK, *LONG):
            chosen.append([word])
        elif chosen:
            chosen[-1].append(word)
        else:
            sys.exit(f"{word!r} is none of {', '.join((*QUICK, *LONG))}")
    print(f"{'benchmark':<52}{'measured':>12}{'target':>12}")
    with Screen() as screen:
        for name, *arguments in chosen:
            done = subprocess.run(
                [sys.executable, "-m", f"tests.benchmarks.{name}", *arguments],
                env=screen.environment, stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            for line in done.stdout.splitlines():
                row = json.loads(line)
                limit, value = row["target"], row["value"]
                met = value <= limit if row["most"] else value >= limit
                sign = "<=" if row["most"] else ">="
                target = f"{sign} {limit:g}"
                text = f"{row['name']} ({row['unit']})" if row["unit"] else row["name"]
                print(f"{text:<52}{value:>12.4g}{target:>12}  {'' if met else 'MISSED'}")


if __name__ == "__main__":
    main()

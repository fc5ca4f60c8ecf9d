"""Speed and memory of the app, run by hand: ``python -m tests.benchmarks [NAME ...]``."""

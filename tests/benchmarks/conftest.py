"""Benchmarks are run by `python -m tests.benchmarks`; the test run leaves them alone."""

collect_ignore_glob = ["*.py"]

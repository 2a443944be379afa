"""Prints how much slower the neighbour was served during each attack."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the 99th percentiles during each attack over those before it, which are in brackets."""
    rows = [
        (report.nodeid.rpartition("[")[2].rstrip("]"), dict(report.user_properties))
        for report in terminalreporter.getreports("passed")
        if report.when == "call" and report.user_properties
    ]
    if not rows:
        return
    names = list(rows[0][1])
    terminalreporter.write_line("neighbour, p99 during the attack over p99 before it:")
    terminalreporter.write_line(f"{'':52}{''.join(f'{name:>17}' for name in names)}")
    for attack, ratios in rows:
        shown = "".join(f"{ratios[name]:>17}" for name in names)
        terminalreporter.write_line(f"{attack:52}{shown}")

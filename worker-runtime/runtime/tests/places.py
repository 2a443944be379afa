"""Defines the paths of the repository and of its gathering scripts, and the time limit of tests."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "worker-runtime" / "runtime"
# Only a program that hangs reaches this limit, never a busy machine.
LIMIT_S = 900

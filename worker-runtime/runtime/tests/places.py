"""Where the repository and its gathering scripts are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "worker-runtime" / "runtime"

"""Where the repository and its gathering scripts are, and how long tests wait."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "worker-runtime" / "runtime"
# No busy machine reaches it, only a hang does.
LIMIT_S = 900

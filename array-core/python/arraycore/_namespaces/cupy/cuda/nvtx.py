"""``cupy.cuda.nvtx``: ranges for NVIDIA's profiler, which are not supported."""

from .._shared.unsupported import absent

_INSTEAD = "measure with arraycore.device_timer()"

RangePush = absent("cupy.cuda.nvtx.RangePush", _INSTEAD)
RangePop = absent("cupy.cuda.nvtx.RangePop", _INSTEAD)
Mark = absent("cupy.cuda.nvtx.Mark", _INSTEAD)

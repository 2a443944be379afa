"""``cupy.cuda.stream``: CuPy's classes for streams and events, over arraycore's only stream."""

from arraycore._runtime.devices import Event, Stream, get_current_stream, get_elapsed_time

__all__ = ["Event", "Stream", "get_current_stream", "get_elapsed_time"]

"""``cupy.cuda.compiler``: there is no compiler for CUDA C, only for CuPy's kernel dialect."""

from arraycore import CompileError as CompileException

from .._shared.unsupported import KERNEL, absent

__all__ = ["CompileException", "compile_using_nvcc", "compile_using_nvrtc", "compile_with_cache"]

compile_with_cache = absent("cupy.cuda.compiler.compile_with_cache", KERNEL)
compile_using_nvcc = absent("cupy.cuda.compiler.compile_using_nvcc", KERNEL)
compile_using_nvrtc = absent("cupy.cuda.compiler.compile_using_nvrtc", KERNEL)

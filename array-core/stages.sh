# array-core as WebAssembly, its Python package's tests on both bridges, and `./run python`.

# shellcheck source=/dev/null
. "$ROOT/array-core/wasm/emscripten.sh"

stage emscripten "system"
do_emscripten() { emscripten_setup; }

stage array_core_wasm "emscripten tools"
do_array_core_wasm() {
  local key
  key=$(fingerprint CMakeLists.txt array-core/CMakeLists.txt array-core/include array-core/src array-core/wasm)
  up_to_date array_core_wasm "$key" && [[ -f build/arraycore/arraycore.wasm ]] && return 0
  wasm_build build/arraycore
  node array-core/wasm/size.mjs build/arraycore/arraycore.wasm
  node array-core/wasm/no_dynamic_code.mjs build/arraycore
  mark array_core_wasm "$key"
}

# The pure wheels that `./run python -m pytest` unpacks.
stage test_wheels "tools"
do_test_wheels() { python3 worker-runtime/node/test_wheels.py --cache build/cache --node build/venv/bin/node; }

# What a NumPy beside it can judge natively: dtypes, views and ufuncs against NumPy, CuPy's kernels against Chainer's own
# CPU path, and the package on its ctypes bridge; that no figure of the benchmarks is lost, and what the parity page says.
stage array_core_test "server runtime tools python_package"
do_array_core_test() {
  local library=$ROOT/build/release/lib pytest=(python3 -m pytest -q -p no:cacheprovider)
  ARRAYCORE_PROBE=$library/libarraycore_probe.so "${pytest[@]}" -c array-core/tests/native/pytest.ini \
    --rootdir array-core/tests/native array-core/tests/native
  ARRAYCORE_OPS_PROBE=$library/libarraycore_ops_probe.so "${pytest[@]}" array-core/tests/ops
  ARRAYCORE_DIALECT_PROBE=$library/libarraycore_dialect_probe.so "${pytest[@]}" array-core/tests/dialect
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python "${pytest[@]}" \
    -c array-core/python/pyproject.toml --rootdir array-core/python array-core/python/tests
  "${pytest[@]}" array-core/bench array-core/tests/parity
  ARRAYCORE_LIBRARY=$library/libarraycore.so "${pytest[@]}" array-core/tests/documents
}

# Every WGSL text that the code generator writes: run by Dawn on a software device and compared with the reference
# interpreter, and compiled by naga, the WGSL compiler of other browsers.
stage array_core_wgsl_test "server_debug npm browser"
do_array_core_wgsl_test() {
  local cases=build/wgsl
  mkdir -p "$cases"
  build/debug/bin/wgsl_cases "$cases"
  node --disable-warning=ExperimentalWarning array-core/tests/wgsl/run_wgsl.mjs "$cases"
  python3 array-core/tests/wgsl/check_naga.py "$cases"
}

# The package's suite and the samples' on their other bridge: WebAssembly in the worker runtime, one interpreter a host
# and back end; then the command itself. Alone, because faults are timed.
stage array_core_python_test "array_core_wasm server runtime npm test_wheels browser" alone
do_array_core_python_test() {
  local where suite=(-m pytest -q -p no:cacheprovider -c array-core/python/pyproject.toml --rootdir array-core/python)
  for where in "--host node --backend cpu" "--host node --backend webgpu --hooks" "--host chromium --backend webgpu --hooks"; do
    # shellcheck disable=SC2086
    "${PYTHON_COMMAND[@]}" $where --mount array-core/python --mount array-core/samples --mount array-core/tests/native \
      "${suite[@]}" array-core/python/tests array-core/samples
  done
  python3 -m pytest -q -p no:cacheprovider worker-runtime/node/tests
}

# A selection of what ./run bench array-core counts in full: the operation table against NumPy, natively and on a device,
# and Chainer's kernels on a device.
stage array_core_device_test "array_core_wasm server runtime npm browser"
do_array_core_device_test() {
  ARRAYCORE_LIBRARY=$ROOT/build/release/lib/libarraycore.so PYTHONPATH=array-core/python:array-core/tests/parity \
    python3 -m parity --backend-name native_cpu --short
  "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/tests/parity -m parity --backend-name node_webgpu --short
  "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/python \
    --wheel build/cache/wheels/chainer-7.8.1-py3-none-any.whl array-core/tests/dialect/run_kernels.py --version 7.8.1 --short
}

PYTHON_STAGES=(array_core_wasm runtime npm test_wheels)
PYTHON_COMMAND=(node --disable-warning=ExperimentalWarning worker-runtime/node/python_command.ts)

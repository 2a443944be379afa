# array-core as WebAssembly, its Python package's tests on both bridges, and `./run python`.

# shellcheck source=/dev/null
. "$ROOT/array-core/wasm/emscripten.sh"

stage emscripten "system"
do_emscripten() { emscripten_setup; }

stage array_core_wasm "emscripten tools"
do_array_core_wasm() {
  local key
  key=$(fingerprint CMakeLists.txt array-core/CMakeLists.txt array-core/include array-core/src array-core/wasm)
  up_to_date array_core_wasm "$key" && [[ -f build/arraycore/arraycore-relaxed.wasm ]] && return 0
  wasm_build build/arraycore
  node array-core/wasm/size.mjs build/arraycore/arraycore{,-relaxed}.wasm
  node array-core/wasm/no_dynamic_code.mjs build/arraycore
  mark array_core_wasm "$key"
}

# The pure wheels that `./run python -m pytest` unpacks.
stage test_wheels "tools"
do_test_wheels() { python3 worker-runtime/node/test_wheels.py --cache build/cache --node build/venv/bin/node; }

# What a NumPy beside it can judge natively: dtypes, views and ufuncs against NumPy, CuPy's kernels against Chainer's own
# CPU path, the package on its ctypes bridge, and Chainer's training on it; that no figure of the benchmarks is lost, and
# what the parity page says.
stage array_core_test "server runtime tools python_package"
do_array_core_test() {
  local library=$ROOT/build/release/lib pytest=(python3 -m pytest -q -p no:cacheprovider)
  ARRAYCORE_PROBE=$library/libarraycore_probe.so "${pytest[@]}" -c array-core/tests/native/pytest.ini \
    --rootdir array-core/tests/native array-core/tests/native
  ARRAYCORE_OPS_PROBE=$library/libarraycore_ops_probe.so "${pytest[@]}" array-core/tests/ops
  ARRAYCORE_DIALECT_PROBE=$library/libarraycore_dialect_probe.so "${pytest[@]}" array-core/tests/dialect
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python "${pytest[@]}" \
    -c array-core/python/pyproject.toml --rootdir array-core/python array-core/python/tests
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python "${pytest[@]}" array-core/tests/chainer
  "${pytest[@]}" array-core/bench array-core/tests/parity
  ARRAYCORE_LIBRARY=$library/libarraycore.so "${pytest[@]}" array-core/tests/documents
}

# Chainer's own tests, as they are: the tools that run them, a twentieth of the cases natively, and a few on a device.
# ./run bench chainer-suite runs them all. Where the tests are not beside the checkout this says so.
stage chainer_suite_test "array_core_wasm server runtime npm test_wheels python_package"
do_chainer_suite_test() {
  local suite=array-core/tests/chainer_suite
  python3 -m pytest -q -p no:cacheprovider "$suite"
  python3 "$suite" --place native_cpu --share 20 --again
  python3 "$suite" --share 40 --kind gpu --again --only chainer_tests/functions_tests/activation_tests
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

# The package's suite and the samples' on their other bridge: WebAssembly in the worker runtime, one interpreter a back end.
# A software device compiles each case's shader for a quarter of a second: it has every test, with a sample of its cases
# where the parity cases and array_core_wgsl_test judge the same operations there.
stage array_core_python_test "array_core_wasm runtime npm test_wheels"
do_array_core_python_test() {
  local tests=array-core/python/tests
  python_in "--host node --backend cpu" "${PYTHON_SUITE[@]}" "$tests" array-core/samples
  python_in "--host node --backend cpu --simd baseline" "${PYTHON_SUITE[@]}" "$tests/functions/test_linear.py"
  python_in "--host node --backend webgpu --hooks" "${PYTHON_SUITE[@]}" "$tests" array-core/samples \
    --ignore "$tests/runtime/test_faults.py" --sample 4
}

# What depends on the host: crossings, transfers, waiting, users' own shaders. Chromium makes the same kernels of the same
# module as Node, so it runs no more than this.
stage array_core_host_test "array_core_wasm runtime npm test_wheels browser"
do_array_core_host_test() {
  local tests=array-core/python/tests name host_dependent=()
  for name in core/test_{arrays,kernels,ndarray,raw_kernels,view_programs,views} runtime/test_device; do
    host_dependent+=("$tests/$name.py")
  done
  python_in "--host chromium --backend webgpu --hooks" "${PYTHON_SUITE[@]}" "${host_dependent[@]}" array-core/samples
}

# Faults of the device on both hosts. Alone, because they are timed.
stage array_core_faults_test "array_core_wasm server runtime npm test_wheels browser" alone
do_array_core_faults_test() {
  local host
  for host in node chromium; do
    python_in "--host $host --backend webgpu --hooks" "${PYTHON_SUITE[@]}" array-core/python/tests/runtime/test_faults.py
  done
}

# ./run python itself: its options, its exits, what it prints.
stage python_command_test "array_core_wasm runtime npm test_wheels browser"
do_python_command_test() { python3 -m pytest -q -p no:cacheprovider worker-runtime/node/tests; }

PYTHON_SUITE=(-m pytest -q -p no:cacheprovider --durations=10 -c array-core/python/pyproject.toml --rootdir array-core/python)
python_in() { # HOST_OPTIONS ARGUMENT...
  # shellcheck disable=SC2086
  "${PYTHON_COMMAND[@]}" $1 --mount array-core/python --mount array-core/samples --mount array-core/tests/native "${@:2}"
}

# A selection of what ./run bench array-core counts in full: the operation table against NumPy, natively and on a device,
# Chainer's kernels on a device, the first losses of a CNN on a small phone's and of a narrow ResNet.
stage array_core_device_test "array_core_wasm server runtime npm browser"
do_array_core_device_test() {
  ARRAYCORE_LIBRARY=$ROOT/build/release/lib/libarraycore.so PYTHONPATH=array-core/python:array-core/tests/parity \
    python3 -m parity --backend-name native_cpu --short
  "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/tests/parity -m parity --backend-name node_webgpu --short
  "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/python \
    --wheel build/cache/wheels/chainer-7.8.1-py3-none-any.whl array-core/tests/dialect/run_kernels.py --version 7.8.1 --short
  "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/python \
    --wheel build/cache/wheels/chainer-7.8.1-py3-none-any.whl array-core/tests/chainer/gradients.py --version 7.8.1 --share 40
  python3 array-core/bench/cnn_losses.py --version 7.8.1 --where phone --short
  python3 array-core/bench/train/narrow.py --version 7.8.1 --where node_webgpu --steps 3 --until 0
}

PYTHON_STAGES=(array_core_wasm runtime npm test_wheels)
PYTHON_COMMAND=(node --disable-warning=ExperimentalWarning worker-runtime/node/python_command.ts)

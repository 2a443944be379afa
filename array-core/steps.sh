# Builds array-core as WebAssembly and tests it and its Python package. Also says which steps ./run python needs.
# shellcheck shell=bash

# shellcheck source=/dev/null
. "$ROOT/array-core/wasm/emscripten.sh"

step_emscripten() { emscripten_setup; }

step_array_core_wasm() {
  local key
  key=$(fingerprint CMakeLists.txt array-core/CMakeLists.txt array-core/include array-core/src array-core/wasm)
  up_to_date array_core_wasm "$key" && [[ -f build/arraycore/arraycore-relaxed.wasm ]] && return 0
  wasm_build build/arraycore
  node array-core/wasm/size.mjs build/arraycore/arraycore{,-relaxed}.wasm
  node array-core/wasm/no_dynamic_code.mjs build/arraycore
  mark array_core_wasm "$key"
}

# Builds the libraries that tests load by ctypes, to compare them with NumPy in the same process.
step_array_core_native() {
  build_preset release arraycore arraycore_probe arraycore_ops_probe arraycore_dialect_probe
}

# Makes a wheel of the package, for tests outside of a browser.
step_array_core_wheel() {
  rm -f build/wheel/arraycore-*
  (cd array-core/python && "$ROOT"/build/venv/bin/python -m hatchling build -t wheel -d "$ROOT"/build/wheel)
}

# Makes the pure wheels that `./run python -m pytest` unpacks.
step_test_wheels() { python3 worker-runtime/node/test_wheels.py --cache build/cache --node build/venv/bin/node; }

# Runs native tests that compare with NumPy in the same process: dtypes, views and ufuncs with NumPy, CuPy's kernels
# with Chainer's own CPU code, the package on its ctypes bridge, a sample of generated calls with NumPy, and Chainer's
# training on it. Also checks that the
# benchmarks still report every figure, and the content of the parity page.
step_array_core_test() {
  local library=$ROOT/build/release/lib
  ARRAYCORE_PROBE=$library/libarraycore_probe.so run_pytest -c array-core/tests/native/pytest.ini \
    --rootdir array-core/tests/native array-core/tests/native
  ARRAYCORE_OPS_PROBE=$library/libarraycore_ops_probe.so run_pytest array-core/tests/ops
  ARRAYCORE_DIALECT_PROBE=$library/libarraycore_dialect_probe.so run_pytest array-core/tests/dialect
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python run_pytest \
    -c array-core/python/pyproject.toml --rootdir array-core/python array-core/python/tests
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python run_pytest array-core/tests/differential
  ARRAYCORE_LIBRARY=$library/libarraycore.so PYTHONPATH=array-core/python run_pytest array-core/tests/chainer
  run_pytest array-core/bench array-core/calls array-core/tests/parity
  ARRAYCORE_LIBRARY=$library/libarraycore.so run_pytest array-core/tests/documents
}

# Runs Chainer's own tests, unchanged: a twentieth of the cases natively and a few on a device, and tests of the tools.
# ./run bench chainer-suite runs all of them. If Chainer's tests are not next to the checkout, this step reports that.
step_chainer_suite_test() {
  local suite=array-core/tests/chainer_suite
  run_pytest "$suite"
  check python3 "$suite" --place native_cpu --share 20 --again
  check python3 "$suite" --share 40 --kind gpu --again --only chainer_tests/functions_tests/activation_tests
}

# Tests the WGSL that the code generator writes. naga, the WGSL compiler of Firefox, compiles all of it. A sample runs
# on Dawn's software device and is compared with the reference interpreter.
step_array_core_wgsl_test() {
  local cases=build/wgsl
  mkdir -p "$cases"
  build/debug/bin/wgsl_cases "$cases"
  check node --disable-warning=ExperimentalWarning array-core/tests/wgsl/run_wgsl.mjs "$cases" --every "$(one_in 16)"
  check python3 array-core/tests/wgsl/check_naga.py "$cases"
}

# Tests the GLSL that the code generator writes: a sample of the same cases, and of random kernels, in Chromium.
step_array_core_glsl_test() {
  local cases=build/glsl
  mkdir -p "$cases"
  build/debug/bin/glsl_cases "$cases"
  check node --disable-warning=ExperimentalWarning array-core/tests/glsl/run_glsl.mjs "$cases" --every "$(one_in 4)"
}

# Runs the tests of the package and of the samples on the WebAssembly bridge, in the worker runtime, with one
# interpreter per back end. A software device needs a quarter of a second to compile each case's shader. So the step
# runs every test with a sample of its cases.
step_array_core_python_test() {
  local tests=array-core/python/tests
  suite_in "--host node --backend cpu" "$tests" array-core/samples
  suite_in "--host node --backend cpu --simd baseline" "$tests/functions/test_linear.py"
  suite_in "--host node --backend webgpu --hooks" "$tests" array-core/samples \
    --ignore "$tests/runtime/test_faults.py" --sample "$(one_in 16)"
}

# Runs in Chromium the tests that may differ from Node: calls between Python and JavaScript, transfers, waiting, and
# users' own shaders. Both make the same kernels from the same module, so the other tests run in Node only.
step_array_core_host_test() {
  local tests=array-core/python/tests name host_dependent=()
  for name in core/test_{arrays,kernels,ndarray,raw_kernels,view_programs,views} runtime/test_device; do
    host_dependent+=("$tests/$name.py")
  done
  suite_in "--host chromium --backend webgpu --hooks" "${host_dependent[@]}" array-core/samples
}

# Tests faults of the device in Node and in Chromium, and those of WebGL2.
step_array_core_faults_test() {
  local host
  for host in node chromium; do
    suite_in "--host $host --backend webgpu --hooks" array-core/python/tests/runtime/test_faults.py
  done
  suite_in "--host chromium --backend webgl2 --hooks" array-core/python/tests/runtime/test_faults.py
}

# Runs tests of the package and parity cases by WebGL2 in Chromium: a sample of the cases, with --whole all of them.
step_array_core_webgl2_test() {
  local tests=array-core/python/tests name chosen=()
  for name in core/test_{arrays,kernels,ndarray,raw_kernels,view_programs,views} runtime/test_{device,fusion}; do
    chosen+=("$tests/$name.py")
  done
  suite_in "--host chromium --backend webgl2" "${chosen[@]}" --sample "$(one_in 4)"
  check "${PYTHON_COMMAND[@]}" --host chromium --backend webgl2 --mount array-core/tests/parity -m parity \
    --backend-name chromium_webgl2 --short --every "$(one_in 16)"
}

# Tests the command ./run python: its options, exit codes and output.
step_python_command_test() { run_pytest worker-runtime/node/tests; }

# suite_in "HOST_OPTIONS" ARGUMENT...: runs pytest in the worker runtime, on tests of array-core's package.
suite_in() {
  local options
  read -ra options <<<"$1"
  check "${PYTHON_COMMAND[@]}" "${options[@]}" --mount array-core/python --mount array-core/samples \
    --mount array-core/tests/native --mount "$JUNIT" -m pytest -q -p no:cacheprovider --durations=10 \
    --junitxml="$JUNIT/$((++REPORTS)).xml" -c array-core/python/pyproject.toml --rootdir array-core/python "${@:2}"
}

# Runs a part of ./run bench array-core: the operation table against NumPy, natively and on a device; Chainer's kernels
# and gradients on a device; and the first losses of two networks in training: a CNN with the limits of a small phone,
# and a narrow ResNet.
step_array_core_device_test() {
  ARRAYCORE_LIBRARY=$ROOT/build/release/lib/libarraycore.so PYTHONPATH=array-core/python:array-core/tests/parity \
    check python3 -m parity --backend-name native_cpu --short
  check "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/tests/parity -m parity --backend-name node_webgpu --short \
    --every "$(one_in 16)"
  check "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/python \
    --wheel build/cache/wheels/chainer-7.8.1-py3-none-any.whl array-core/tests/dialect/run_kernels.py --version 7.8.1 --short \
    --every "$(one_in 6)"
  check "${PYTHON_COMMAND[@]}" --backend webgpu --mount array-core/python \
    --wheel build/cache/wheels/chainer-7.8.1-py3-none-any.whl array-core/tests/chainer/gradients.py --version 7.8.1 --share 40
  check python3 array-core/bench/cnn_losses.py --version 7.8.1 --where phone --short
  check python3 array-core/bench/train/narrow.py --version 7.8.1 --where node_webgpu --steps 3 --until 0
}

# Says which steps ./run python needs, and what its command line is.
# shellcheck disable=SC2034
PYTHON_STEPS=(array_core_wasm runtime npm test_wheels)
PYTHON_COMMAND=(node --disable-warning=ExperimentalWarning worker-runtime/node/python_command.ts)

"""The commands that ``./run bench array-core`` runs, and the figures that each of them measures.

The last line of a command's output is one flat JSON object, from names to numbers. A figure that is
missing there, or is not a number, counts as missed. An ``optional`` figure may be null if the
machine lacks the device that it measures.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PACKAGE = "array-core/python"
BENCH = f"{PACKAGE}/bench"
CHAINER = {"5.4.0": 132, "7.8.1": 142}  # kernel sites of each version


MODULES = ("build/arraycore/arraycore.wasm", "build/arraycore/arraycore-relaxed.wasm")


@dataclass(frozen=True)
class Figure:
    """A number of the report, with its unit, its goal, and a number to compare it with."""

    name: str
    unit: str = ""
    op: str | None = None
    goal: float | None = None
    key: str = ""  # the number's name in the command's line; "": the figure's own name
    peer: tuple[str, str] | None = None  # a number to compare with: its label, its name in the line
    optional: bool = False


@dataclass(frozen=True)
class Command:
    """A command that runs in a process of its own. ``python`` holds options of ``./run python``, or
    None for a command that does not run in the worker runtime.
    """

    name: str
    arguments: tuple[str, ...]
    figures: tuple[Figure, ...]
    python: tuple[str, ...] | None = None
    env: dict[str, str] = field(default_factory=dict)
    limit_s: int = 600


def at_least(name: str, goal: float, unit: str = "", **more: object) -> Figure:
    """Return a figure whose goal is a lower limit."""
    return Figure(name, unit, ">=", goal, **more)  # type: ignore[arg-type]


def at_most(name: str, goal: float, unit: str = "", **more: object) -> Figure:
    """Return a figure whose goal is an upper limit."""
    return Figure(name, unit, "<=", goal, **more)  # type: ignore[arg-type]


def webgpu(host: str, *more: str) -> tuple[str, ...]:
    """Return the options of ``./run python`` for WebGPU on a host."""
    return ("--host", host, "--backend", "webgpu", *more)


def cpu(host: str, *more: str) -> tuple[str, ...]:
    """Return the options of ``./run python`` for the CPU on a host."""
    return ("--host", host, "--backend", "cpu", *more)


def parity(where: str, python: tuple[str, ...] | None) -> Command:
    """Return the command that compares the operation table with NumPy on one back end."""
    figures = [
        at_least(f"parity_cases_{where}", 12_000, key="parity_cases"),
        at_most(f"parity_failures_{where}", 0, key="parity_failures"),
    ]
    if "webgpu" in where:
        figures.append(at_least(f"parity_gpu_share_{where}", 0.95, key="parity_gpu_share"))
    report = ("--report", f"build/reports/parity/{where}.json")
    arguments = ("-m", "parity", "--backend-name", where, *report)
    if python is None:
        env = {
            "ARRAYCORE_LIBRARY": "build/release/lib/libarraycore.so",
            "PYTHONPATH": f"{PACKAGE}:array-core/tests/parity",
        }
        return Command(f"parity_{where}", ("python3", *arguments), tuple(figures), env=env)
    mounts = ("--mount", "array-core/tests/parity", "--mount", "build/reports/parity")
    return Command(
        f"parity_{where}", arguments, tuple(figures), python=(*python, *mounts), limit_s=3_600
    )


def kernels(version: str, backend: str, python: tuple[str, ...]) -> Command:
    """Return the command that runs every kernel of Chainer in every dtype, on one back end."""
    name = f"chainer_kernels_{backend}_{version}"
    figure = at_least(name, CHAINER[version], "sites")
    wheels = ("--wheel", f"build/cache/wheels/chainer-{version}-py3-none-any.whl")
    return Command(
        name,
        ("array-core/tests/dialect/run_kernels.py", "--version", version, "--label", backend),
        (figure,),
        python=(*python, *wheels),
        limit_s=1_800,
    )


def losses(version: str, where: str) -> Command:
    """Return the command that compares training in one place with NumPy on CPython."""
    label = f"{where}_{version}"
    return Command(
        f"cnn_losses_{label}",
        ("python3", "array-core/bench/cnn_losses.py", "--version", version, "--where", where),
        (
            at_most(f"cnn_losses_{label}", 1e-3, key="cnn_losses"),
            at_most(f"mlp_losses_{label}", 1e-3, key="mlp_losses"),
            at_most(f"cnn_step_bytes_down_{label}", 0, "B", key="cnn_step_bytes_down"),
            at_most(f"cnn_step_cpu_ops_{label}", 0, key="cnn_step_cpu_ops"),
            Figure(f"cnn_step_dispatches_{label}", key="cnn_step_dispatches"),
            Figure(f"cnn_step_ms_{label}", "ms", key="cnn_step_ms"),
        ),
        limit_s=900,
    )


def narrow(version: str, where: str) -> Command:
    """Return the command that compares the narrow ResNet in one place with NumPy on CPython."""
    label = f"{where}_{version}"
    script = "array-core/bench/train/narrow.py"
    return Command(
        f"narrow_{label}",
        ("python3", script, "--version", version, "--where", where),
        (
            at_most(f"narrow_first_losses_{label}", 0.01, key="narrow_first_losses"),
            at_most(f"narrow_late_mean_{label}", 0.05, key="narrow_late_mean"),
            at_most(f"narrow_bytes_growth_{label}", 0, "B", key="narrow_bytes_growth"),
        ),
        limit_s=1_800,
    )


def gradients(version: str, where: str, python: tuple[str, ...]) -> Command:
    """Return the command that checks values and gradients of every function of Chainer."""
    name = f"chainer_gradients_{where}_{version}"
    return Command(
        name,
        ("array-core/tests/chainer/gradients.py", "--version", version),
        (
            at_least(name, {"5.4.0": 192, "7.8.1": 202}[version], "functions", key="functions"),
            *(
                at_most(f"{kind}_of_{name}", 0, key=kind)
                for kind in ("gradients_wrong", "values_wrong", "twice_wrong")
            ),
        ),
        python=(*python, "--wheel", f"build/cache/wheels/chainer-{version}-py3-none-any.whl"),
        limit_s=1_800,
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        "issue_cost",
        (f"{BENCH}/issue_cost.py",),
        (
            at_most("issue_add_us", 5, "us"),
            at_most("issue_add_us_p99", 60, "us"),
            Figure("issue_add_us_grouped", "us"),
            at_most("issue_scalar_us", 5, "us"),
            at_most("issue_scalar_us_p99", 60, "us"),
            Figure("issue_scalar_us_grouped", "us"),  # finer than a browser's clock
        ),
        python=webgpu("chromium"),
    ),
    *(
        kernels(version, backend, python)
        for version in CHAINER
        for backend, python in (
            ("webgpu", webgpu("node")),
            ("cpu", cpu("node")),
            ("phone", webgpu("node", "--limits", "phone")),
        )
    ),
    *(
        gradients(version, where, python)
        for version in CHAINER
        for where, python in (("node_webgpu", webgpu("node")), ("node_cpu", cpu("node")))
    ),
    *(
        losses(version, where)
        for version in CHAINER
        for where in ("native_cpu", "node_cpu", "node_webgpu", "chromium_webgpu", "phone")
    ),
    *(narrow(version, where) for version in CHAINER for where in ("node_cpu", "node_webgpu")),
    *(
        Command(
            f"cnn_loop_{where}",
            (
                *("python3", "array-core/bench/cnn_losses.py", "--version", "7.8.1"),
                *("--where", where, "--loop", "10000"),
            ),
            (
                at_most(f"cnn_loop_bytes_growth_{where}", 0, "B", key="cnn_loop_bytes_growth"),
                Figure(f"cnn_loop_step_ms_{where}", "ms", key="cnn_loop_step_ms"),
            ),
            limit_s=1_800,
        )
        for where in ("native_cpu", "node_webgpu")
    ),
    parity("native_cpu", None),
    parity("node_cpu", cpu("node")),
    parity("node_webgpu", webgpu("node")),
    parity("chromium_webgpu", webgpu("chromium")),
    Command(
        "view_programs",
        ("python3", "-m", "array_core_fuzz", "--programs", "1000000", "--jobs", "2"),
        (at_least("view_programs", 1_000_000, "programs"),),
        env={
            "ARRAYCORE_PROBE": "build/release/lib/libarraycore_probe.so",
            "PYTHONPATH": "array-core/tests/native",
        },
        limit_s=1_200,
    ),
    Command(
        "view_programs_webgpu",
        (f"{BENCH}/view_programs.py", "--programs", "20000"),
        (
            at_least("view_programs_webgpu", 20_000, "programs"),
            at_most("view_programs_bytes_down", 0, "B", key="bytes_down"),
        ),
        python=webgpu("node", "--mount", "array-core"),
        limit_s=3_600,
    ),
    Command(
        "keyed_view_programs_cpu",
        ("python3", f"{BENCH}/view_programs.py", "--programs", "200000", "--keys"),
        (
            at_least("keyed_view_programs_cpu", 200_000, "programs"),
            at_most("keyed_view_programs_cpu_bytes_down", 0, "B", key="bytes_down"),
        ),
        env={"ARRAYCORE_LIBRARY": "build/release/lib/libarraycore.so", "PYTHONPATH": PACKAGE},
        limit_s=2_400,
    ),
    Command(
        "keyed_view_programs_webgpu",
        (f"{BENCH}/view_programs.py", "--programs", "10000", "--keys"),
        (
            at_least("keyed_view_programs_webgpu", 10_000, "programs"),
            at_most("keyed_view_programs_bytes_down", 0, "B", key="bytes_down"),
        ),
        python=webgpu("node", "--mount", "array-core"),
        limit_s=3_600,
    ),
    Command(
        "fusion_programs",
        ("python3", f"{BENCH}/fusion_programs.py", "--programs", "100000", "--jobs", "2"),
        (
            at_least("fusion_programs", 100_000, "programs", key="fusion_programs_cpu"),
            at_most("fusion_live_share", 1.1),
        ),
        env={"ARRAYCORE_LIBRARY": "build/release/lib/libarraycore.so", "PYTHONPATH": PACKAGE},
        limit_s=2_400,
    ),
    Command(
        "fusion_programs_webgpu",
        (f"{BENCH}/fusion_programs.py", "--steady", "--programs", "5000"),
        (
            at_least("fusion_programs_webgpu", 5_000, "programs"),
            at_most("fusion_live_share_webgpu", 1.1, key="fusion_live_share"),
        ),
        python=webgpu("node", "--mount", "array-core"),
        limit_s=3_600,
    ),
    Command(
        "fusion_cost",
        (f"{BENCH}/fusion_cost.py",),
        (
            Figure("fused_issue_us", "us"),
            Figure("fused_chain_ms", "ms", key="chain_ms", peer=("unfused", "unfused_chain_ms")),
        ),
        python=webgpu("node"),
    ),
    *(
        Command(
            f"scalar_sync_{host}",
            (f"{BENCH}/scalar_sync.py", "--host", host),
            (
                at_most(f"scalar_sync_ratio_{host}", 1.5),
                Figure(
                    f"scalar_sync_us_{host}",
                    "us",
                    peer=("copy and readback by hand", f"scalar_sync_hand_us_{host}"),
                ),
            ),
            python=webgpu(host, "--hooks"),
        )
        for host in ("node", "chromium")
    ),
    Command(
        "memory_growth",
        (f"{BENCH}/memory_growth.py",),
        (at_most("loop_bytes_growth", 0, "B"), at_most("stream_heap_growth_mb", 64, "MB")),
        python=webgpu("node"),
    ),
    Command(
        "gpu_add",
        (f"{BENCH}/gpu_add.py",),
        (at_least("gpu_add_gbs", 1_500, "GB/s", optional=True),),
        python=webgpu("node"),
    ),
    Command(
        "cpu_matmul",
        ("python3", "array-core/bench/cpu_matmul.py"),
        (
            at_least("cpu_matmul_vs_sse", 0.85),
            at_least("cpu_matmul_vs_numpy", 50),
            at_least("cpu_matmul_relaxed_vs_baseline", 1.2),
            at_least("cpu_matmul_two_threads_vs_one", 1.7),
            Figure(
                "cpu_matmul_gflops",
                "GFLOP/s",
                peer=("the same source built for SSE", "cpu_matmul_sse_gflops"),
            ),
        ),
    ),
    Command(
        "gpu_matmul",
        (f"{BENCH}/gpu_matmul.py",),
        (
            *(
                at_least(f"gpu_matmul_vs_ref_{size}", 0.9, optional=True)
                for size in (256, 1024, 2048, 4096)
            ),
            *(at_least(f"gpu_matmul_ragged_{size}", 0.8, optional=True) for size in (1000, 1023)),
            *(
                Figure(
                    f"gpu_matmul_{size}_gflops",
                    "GFLOP/s",
                    peer=("the best of the plain kernels", f"gpu_matmul_{size}_ref_gflops"),
                    optional=True,
                )
                for size in (256, 1024, 2048, 4096)
            ),
        ),
        python=webgpu("node", "--mount", "array-core/bench"),
    ),
    Command(
        "cpu_conv",
        (f"{BENCH}/cpu_conv.py",),
        (
            Figure("cpu_conv_vs_numpy"),
            Figure(
                "cpu_conv_gflops",
                "GFLOP/s",
                peer=("a product of matrices of the same sizes", "cpu_conv_gemm_gflops"),
            ),
            Figure("cpu_conv_data_gflops", "GFLOP/s"),
            Figure("cpu_conv_weights_gflops", "GFLOP/s"),
        ),
        python=cpu("node"),
    ),
    Command(
        "train_cnn_cpu",
        ("python3", "array-core/bench/train_cpu.py", "cnn"),
        (
            at_least("train_cnn_vs_numpy", 4),
            Figure("train_cnn_ms", "ms", peer=("Chainer on NumPy", "train_cnn_numpy_ms")),
        ),
    ),
    Command(
        "train_grid_cpu",
        ("python3", "array-core/bench/train_cpu.py", "grid"),
        (
            at_least("train_grid_candidates", 64),
            at_most("train_grid_slower_than_numpy", 0, "candidates"),
            at_least("train_grid_least_vs_numpy", 1),
        ),
        limit_s=3_600,
    ),
    Command(
        "train_resnet18_cpu",
        ("python3", "array-core/bench/train_cpu.py", "resnet18"),
        (
            at_least("train_resnet18_vs_numpy", 20),
            at_least("train_resnet18_two_threads_vs_one", 1.6),
            Figure(
                "train_resnet18_ms", "ms", peer=("NumPy as it comes", "train_resnet18_numpy_ms")
            ),
        ),
        limit_s=1_800,
    ),
    Command(
        "gpu_conv",
        (f"{BENCH}/gpu_conv.py",),
        (
            Figure("gpu_conv_vs_gemm", optional=True),
            Figure("gpu_conv_data_vs_gemm", optional=True),
            Figure("gpu_conv_weights_vs_gemm", optional=True),
            Figure(
                "gpu_conv_gflops",
                "GFLOP/s",
                peer=("a product of matrices of the same sizes", "gpu_conv_gemm_gflops"),
                optional=True,
            ),
        ),
        python=webgpu("node"),
    ),
    Command(
        "gpu_sum",
        (f"{BENCH}/gpu_sum.py",),
        (
            at_most("gpu_sum_1e7_ms", 0.1, "ms", optional=True),
            Figure("gpu_sum_gbs", "GB/s", optional=True),
        ),
        python=webgpu("node"),
    ),
    Command(
        "size",
        ("node", "array-core/wasm/size.mjs", *MODULES),
        (at_most("wasm_and_js_gzip_bytes", 600_000, "B"),),
    ),
    *(
        Command(
            f"first_result_{host}",
            (f"{BENCH}/first_result.py",),
            (at_most(f"first_result_{host}_s", 1.5, "s", key="first_result_s"),),
            python=webgpu(host),
        )
        for host in ("node", "chromium")
    ),
)

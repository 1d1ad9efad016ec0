"""Products by cuBLASLt with kernels for compute capability 8.x (mma.sync), also where its heuristics prefer later ones.

cuBLASLt's algorithms have numbers alone. Configurations that it accepts run once; which kernel ran is read off a
profile. Of those with a kernel for 8.x, by its name, the fastest is kept.
Usage: python3 bench/cublaslt.py [NUMBER] [SIDE]: for each kernel that was found, its fastest configuration.
"""

import ctypes
import functools
import itertools
import re
import sys

import torch
from torch.profiler import ProfilerActivity, profile

OF_8 = re.compile(r"sm8[069]_|cutlass_8\d_|ampere_|ada_|s16816")
# cudaDataType of A and B, and of C.
TYPES = {"fp16": (2, 2), "bf16": (14, 14), "fp8 e4m3": (28, 14)}
FLOAT, COMPUTE_FLOAT = 0, 68
TRANSPOSED_A = 3
WORKSPACE = 1 << 25
# cublasLtMatmulAlgoCapAttributes_t and cublasLtMatmulAlgoConfigAttributes_t.
HAS_SWIZZLE, HAS_TILES, HAS_CUSTOM, HAS_STAGES = 2, 6, 7, 13
TILE, SWIZZLE, CUSTOM, STAGES = 1, 4, 5, 6
MOST_CUSTOM, MOST_ALGORITHMS, MOST_TRIED = 8, 200, 1500
FEW, REFINED, LAUNCHES = 4, 12, 10
SIDE = 4096

Algorithm = ctypes.c_uint64 * 8


class Heuristic(ctypes.Structure):
    _fields_ = [
        ("algorithm", Algorithm),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


@functools.cache
def library():
    """The one that PyTorch has loaded."""
    torch.ones(16, 16, device="cuda") @ torch.ones(16, 16, device="cuda")
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "libcublasLt.so" in line}
    lib = ctypes.CDLL(sorted(paths)[0])
    handle = ctypes.c_void_p()
    check(lib.cublasLtCreate(ctypes.byref(handle)), "cublasLtCreate")
    return lib, handle


def check(status, what):
    if status:
        raise RuntimeError(f"{what} failed with cuBLAS status {status}")


class Product:
    """out = a · bᵀ of row-major matrices: for cuBLAS, whose matrices are column-major, outᵀ = (bᵀ)ᵀ · aᵀ."""

    def __init__(self, number, a, b):
        self.lib, self.handle = library()
        (m, k), n = a.shape, b.shape[0]
        result = torch.float16 if number == "fp16" else torch.bfloat16
        self.a, self.b, self.out = a, b, torch.zeros(m, n, device=a.device, dtype=result)
        self.kind, self.result = TYPES[number]
        self.workspace = torch.empty(WORKSPACE, device=a.device, dtype=torch.uint8)
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        self.operation = ctypes.c_void_p()
        check(
            self.lib.cublasLtMatmulDescCreate(ctypes.byref(self.operation), COMPUTE_FLOAT, FLOAT),
            "cublasLtMatmulDescCreate",
        )
        transposed, size = ctypes.c_int(1), ctypes.c_size_t(4)
        check(
            self.lib.cublasLtMatmulDescSetAttribute(self.operation, TRANSPOSED_A, ctypes.byref(transposed), size),
            "cublasLtMatmulDescSetAttribute",
        )
        self.left, self.right, self.sum = (
            self.layout(*of) for of in ((self.kind, k, n), (self.kind, k, m), (self.result, n, m))
        )

    def layout(self, kind, rows, columns):
        layout = ctypes.c_void_p()
        sizes = ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)
        check(
            self.lib.cublasLtMatrixLayoutCreate(ctypes.byref(layout), kind, *sizes), "cublasLtMatrixLayoutCreate"
        )
        return layout

    def launch(self, algorithm):
        pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        status = self.lib.cublasLtMatmul(
            *(self.handle, self.operation, ctypes.byref(self.one), pointer(self.b), self.left),
            *(pointer(self.a), self.right, ctypes.byref(self.zero), pointer(self.out), self.sum),
            *(pointer(self.out), self.sum, ctypes.byref(algorithm), pointer(self.workspace)),
            *(ctypes.c_size_t(WORKSPACE), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)),
        )
        check(status, "cublasLtMatmul")

    def types(self):
        return COMPUTE_FLOAT, FLOAT, self.kind, self.kind, self.result, self.result

    def algorithms(self):
        """Of each number, the algorithm with nothing chosen."""
        numbers, count = (ctypes.c_int * MOST_ALGORITHMS)(), ctypes.c_int()
        found = self.lib.cublasLtMatmulAlgoGetIds(
            self.handle, *self.types(), MOST_ALGORITHMS, numbers, ctypes.byref(count)
        )
        check(found, "cublasLtMatmulAlgoGetIds")
        for number in numbers[: count.value]:
            algorithm = Algorithm()
            if self.lib.cublasLtMatmulAlgoInit(self.handle, *self.types(), number, ctypes.byref(algorithm)) == 0:
                yield number, algorithm

    def capability(self, algorithm, code):
        written = ctypes.c_size_t()
        ask = functools.partial(self.lib.cublasLtMatmulAlgoCapGetAttribute, ctypes.byref(algorithm), code)
        ask(None, ctypes.c_size_t(0), ctypes.byref(written))
        size = written.value or 4
        values = (ctypes.c_uint32 * (size // 4))()
        status = ask(values, ctypes.c_size_t(size), ctypes.byref(written))
        return [] if status else list(values)

    def configurations(self, algorithm, every):
        """Those that are accepted, of every tile and number of stages: (tile, stages, swizzle, custom), algorithm."""
        tiles = self.capability(algorithm, HAS_TILES) or [0]
        stages = self.capability(algorithm, HAS_STAGES) or [0]
        swizzles, customs = [0], [0]
        if every:
            swizzles = [0, 1] if self.capability(algorithm, HAS_SWIZZLE) == [1] else [0]
            customs = range(min((self.capability(algorithm, HAS_CUSTOM) or [0])[0], MOST_CUSTOM) + 1)
        for chosen in itertools.product(tiles, stages, swizzles, customs):
            tried, result = Algorithm(*algorithm), Heuristic()
            for code, value in zip((TILE, STAGES, SWIZZLE, CUSTOM), chosen):
                self.lib.cublasLtMatmulAlgoConfigSetAttribute(
                    ctypes.byref(tried), code, ctypes.byref(ctypes.c_uint32(value)), ctypes.c_size_t(4)
                )
            accepted = self.lib.cublasLtMatmulAlgoCheck(
                *(self.handle, self.operation, self.left, self.right, self.sum, self.sum),
                *(ctypes.byref(tried), ctypes.byref(result)),
            )
            if accepted == 0 and result.state == 0 and result.workspace <= WORKSPACE:
                yield chosen, tried


def kernels_of(launches):
    """Of each launch, the kernels that ran: (name, µs)."""
    between = torch.zeros(1, device="cuda")
    ran = [[] for _ in launches]
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiled:
        for launch in launches:
            between.fill_(1)
            try:
                launch()
            except RuntimeError as error:
                if "cuBLAS status" not in str(error):
                    raise
        torch.cuda.synchronize()
    place = -1
    on_gpu = [event for event in profiled.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    for event in sorted(on_gpu, key=lambda event: event.time_range.start):
        if "FillFunctor" in event.name:
            place += 1
        elif place >= 0 and not event.name.startswith(("Memset", "Memcpy")):
            ran[place].append((event.name, event.time_range.elapsed_us()))
    return ran


def profiled_configurations(product, tried):
    """(µs, kernel, number, chosen, algorithm) of each that ran as one kernel."""
    launches = [functools.partial(product.launch, algorithm) for _, _, algorithm in tried]
    return [
        (kernels[0][1], kernels[0][0], *of) for of, kernels in zip(tried, kernels_of(launches)) if len(kernels) == 1
    ]


def all_configurations(product):
    """Few of each algorithm, and then those of all that have a kernel for 8.x; the fastest first."""
    algorithms = dict(product.algorithms())

    def accepted(number, every):
        return [(number, chosen, tried) for chosen, tried in product.configurations(algorithms[number], every)]

    few = []
    for number in algorithms:
        of_it = accepted(number, every=False)
        few += of_it[:: max(len(of_it) // FEW, 1)]
    found = profiled_configurations(product, few)
    numbers = {number for _, name, number, _, _ in found if OF_8.search(name)}
    rest = [one for number in numbers for one in accepted(number, every=True)]
    if rest:
        found += profiled_configurations(product, rest[:: max(len(rest) // MOST_TRIED, 1)])
    return sorted(found, key=lambda one: one[0])


def timed(launch):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    launch()
    begin.record()
    for _ in range(LAUNCHES):
        launch()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / LAUNCHES


def operands(number, side):
    dtype = torch.float16 if number == "fp16" else torch.bfloat16
    made = [torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2)]
    return [one.to(torch.float8_e4m3fn) for one in made] if number == "fp8 e4m3" else made


@functools.cache
def fast(number):
    """The fastest of 8.x, in one launch each."""
    product = Product(number, *operands(number, SIDE))
    found = all_configurations(product)
    of_8 = [one[-1] for one in found if OF_8.search(one[1])]
    if not of_8:
        listed, names = len(list(product.algorithms())), sorted({name[:80] for _, name, *_ in found})
        raise RuntimeError(f"of the {listed} algorithms that cuBLASLt lists, none has a kernel for 8.x: {names}")
    return of_8[:REFINED]


@functools.cache
def fastest(number, side):
    """The fastest of these in products of that side, if it computes what it should."""
    product = Product(number, *operands(number, side))
    best = min(fast(number), key=lambda algorithm: timed(functools.partial(product.launch, algorithm)))
    product.launch(best)
    expected = product.a.to(torch.float32) @ product.b.to(torch.float32).t()
    error = ((product.out - expected).abs().max() / expected.abs().max()).item()
    if not error < 0.01:
        raise RuntimeError(f"the fastest kernel for 8.x is wrong by {error}")
    return best


def product_of_8(number, side):
    """What launches it."""
    algorithm = fastest(number, side)
    return functools.partial(Product(number, *operands(number, side)).launch, algorithm)


def print_all(number="bf16", side=SIDE):
    fastest_of = {}
    for us, name, algorithm, chosen, _ in all_configurations(Product(number, *operands(number, int(side)))):
        fastest_of.setdefault(name, (us, algorithm, chosen))
    print("TFLOPS\tµs\talgorithm\ttile, stages, swizzle, custom\tkernel")
    for name, (us, algorithm, chosen) in fastest_of.items():
        print(f"{2 * int(side) ** 3 / us / 1e6:.1f}\t{us:.1f}\t{algorithm}\t{chosen}\t{name}")


if __name__ == "__main__":
    print_all(*sys.argv[1:])

"""What PyTorch reaches on the first visible GPU where LLM-* have kernels of their own; random normal inputs.

bench/rates.js starts it: one JSON request a line, such as {"work": "product", "number": "bf16", "side": 4096,
"leastNs": 50000000}, and one line with the rate of one batch, in TFLOPS or GB/s, or with the error. With "names": true
it has the names of one launch's kernels in place of the rate.
"""

import json
import math
import sys

import torch
from cublaslt import kernels_of, product_of_8
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

GPU = "cuda"
TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
FEW = 3


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=GPU, dtype=dtype)


def product(number, side, of8=False):
    """A · Bᵀ, as the kernels here compute it. On an H200, cuBLAS computes A · B in FP32 7 % slower."""
    flops = 2 * side**3 / 1e12
    if of8:
        return product_of_8(number, side), flops
    if number != "fp8 e4m3":
        a, b = (normal(side, side, dtype=TYPES[number]) for _ in range(2))
        return lambda: a @ b.t(), flops
    a = normal(side, side).to(torch.float8_e4m3fn)
    b = normal(side, side).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=GPU)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16), flops


def attention(number, batch, heads, length, headDim, causal, backend):
    q, k, v = (normal(batch, heads, length, headDim, dtype=TYPES[number]) for _ in range(3))

    def attend():
        with sdpa_kernel(BACKENDS[backend]):
            scaled_dot_product_attention(q, k, v, is_causal=causal)

    pairs = length * (length + 1) / 2 if causal else length**2
    return attend, 4 * batch * heads * pairs * headDim / 1e12


def memory(kind):
    source = normal(1 << 28, dtype=torch.float32)
    target = torch.empty_like(source)
    size = source.numel() * 4 / 1e9
    if kind == "copy":
        return lambda: target.copy_(source), 2 * size
    return (source.sum if kind == "read" else target.zero_), size


def weights(side):
    """One row times matrices that are larger than the L2 cache together, as when a model decodes."""
    matrices = [normal(side, side) for _ in range(16)]
    x = normal(1, side)

    def multiply_all():
        for matrix in matrices:
            x @ matrix.t()

    return multiply_all, 16 * side**2 * 2 / 1e9


def transfer(host, to):
    size = 1 << 28
    device = torch.empty(size, dtype=torch.uint8, device=GPU)
    own = torch.zeros(size, dtype=torch.uint8)
    if host == "pinned":
        own = own.pin_memory()
    source, target = (own, device) if to == "device" else (device, own)
    return lambda: target.copy_(source, non_blocking=True), size / 1e9


WORKS = {work.__name__: work for work in (product, attention, memory, weights, transfer)}


def batch_ms(work, launches):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(launches):
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def rate_of(work, leastLaunches, leastNs, **arguments):
    """A batch of the length that the addon gives its own: estimated from few launches after as many to warm up."""
    launch, amount = WORKS[work](**arguments)
    batch_ms(launch, FEW)
    each = batch_ms(launch, FEW) / FEW
    launches = max(leastLaunches, math.ceil(leastNs / 1e6 / each))
    return amount / (batch_ms(launch, launches) / launches / 1e3)


def names_of(work, leastLaunches, leastNs, **arguments):
    launch, _ = WORKS[work](**arguments)
    launch()
    return [name for name, _ in kernels_of([launch])[0]]


def answer_to(names=False, **request):
    return {"kernels": names_of(**request)} if names else {"rate": rate_of(**request)}


torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = False
print(json.dumps({"name": f"PyTorch {torch.__version__}"}), flush=True)
for line in sys.stdin:
    try:
        answer = answer_to(**json.loads(line))
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)

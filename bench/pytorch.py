"""What PyTorch reaches on the first visible GPU where LLM-* have kernels of their own; random normal inputs.

Run it beside bench/rates.js and LLM-001 in one session on one machine: absolute rates differ between machines.
"""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

GPU = "cuda"


def milliseconds(work, launches=20, rounds=5):
    """The median over rounds of what one launch took, by events."""
    for _ in range(5):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / launches)
    return sorted(times)[rounds // 2]


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=GPU, dtype=dtype)


def products():
    for side in (4096, 8192):
        for dtype in (torch.bfloat16, torch.float16):
            a, b = normal(side, side, dtype=dtype), normal(side, side, dtype=dtype)
            yield f"{dtype} {side}", 2 * side**3 / milliseconds(lambda: a @ b) / 1e9
        a = normal(side, side).to(torch.float8_e4m3fn)
        b = normal(side, side).to(torch.float8_e4m3fn).t()
        one = torch.ones((), device=GPU)
        took = milliseconds(lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16))
        yield f"fp8 {side}", 2 * side**3 / took / 1e9
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = normal(10_000, 10_000, dtype=torch.float32), normal(10_000, 10_000, dtype=torch.float32)
    yield "fp32 10000", 2e12 / milliseconds(lambda: a @ b, 5) / 1e9


def attention():
    batch, heads, length = 4, 16, 4096
    for width in (64, 128):
        for causal in (False, True):
            flops = 4 * batch * heads * length**2 * width * (0.5 if causal else 1)
            for name, backend in (("cuDNN", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
                q, k, v = (normal(batch, heads, length, width) for _ in range(3))
                with sdpa_kernel(backend):
                    took = milliseconds(lambda: scaled_dot_product_attention(q, k, v, is_causal=causal))
                yield f"head dimension {width}, {'causal' if causal else 'all pairs'}, {name}", flops / took / 1e9


def memory():
    source = normal(1 << 30, dtype=torch.float32)
    target = torch.empty_like(source)
    size = source.numel() * 4
    yield "read (sum)", size / milliseconds(source.sum) / 1e6
    yield "write (zero)", size / milliseconds(target.zero_) / 1e6
    yield "copy", 2 * size / milliseconds(lambda: target.copy_(source)) / 1e6
    del source, target
    weights = [normal(8192, 8192) for _ in range(16)]
    x = normal(1, 8192)

    def multiply_all():
        for weight in weights:
            x @ weight.t()

    yield "weights of 8192 x 8192, one row", 16 * 8192 * 8192 * 2 / milliseconds(multiply_all) / 1e6


def transfers():
    size = 1 << 28
    device = torch.empty(size, dtype=torch.uint8, device=GPU)
    for name, host in (("pinned", torch.zeros(size, dtype=torch.uint8).pin_memory()), ("pageable", torch.zeros(size, dtype=torch.uint8))):
        to_device = milliseconds(lambda: device.copy_(host, non_blocking=True), 5)
        to_host = milliseconds(lambda: host.copy_(device, non_blocking=True), 5)
        yield f"{name}, to the device", size / to_device / 1e6
        yield f"{name}, to the host", size / to_host / 1e6


torch.manual_seed(1)
print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
for title, unit, measured in (("products", "TFLOPS", products), ("attention", "TFLOPS", attention), ("memory", "GB/s", memory), ("transfers", "GB/s", transfers)):
    for name, value in measured():
        print(f"{title}\t{name}\t{value:.1f} {unit}")

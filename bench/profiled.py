"""Programs whose call profiles are recorded: one step again and again, between the marks of `gpu-virt-bench profile --marks`.

Usage: python3 bench/profiled.py eager|graphs|training|jax
Decode and training are of the Llama-shaped model of examples/pytorch. Prints the median time of a step in µs; exits with 3 where a framework is not installed.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples/pytorch"))

CONTEXT = 512
WARMUP, STEPS = 30, 300
LONG_STEPS = 100  # of some ten ms each


def measure(name, step, steps=STEPS):
    """Marks are flushed and followed by a pause, which the seconds leave out: one is read some ms after it was printed."""
    for _ in range(WARMUP):
        step()
    print(f"gvb:begin {name}", flush=True)
    time.sleep(0.2)
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    print(f"gvb:end {steps} {sum(times):.6f}", flush=True)
    time.sleep(0.2)
    print(f"step_us {sorted(times)[steps // 2] * 1e6:.3f}", flush=True)


def decoder(torch):
    """One token at the last position of a full cache, as the step in the middle of a long answer."""
    from llama import angles_of, empty_caches, model

    llama = model()
    caches = empty_caches(1, CONTEXT).normal_()
    cos, sin = angles_of(CONTEXT)
    position = torch.tensor([CONTEXT - 1], device="cuda")
    token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
    return lambda: llama(token, (cos[-1:], sin[-1:]), caches, position)[:, -1].argmax(-1)


def eager(torch):
    step = decoder(torch)
    with torch.inference_mode():
        measure("eager decode", lambda: step().item())


def graphs(torch):
    step = decoder(torch)
    with torch.inference_mode():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            chosen = step()

        def replay():
            graph.replay()
            return chosen.item()

        measure("decode in a CUDA graph", replay)


def training(torch):
    from llama import VOCABULARY, angles_of, model
    from torch.nn.functional import cross_entropy

    llama = model()
    optimizer = torch.optim.AdamW(llama.parameters(), lr=1e-5)
    angles = angles_of(CONTEXT)
    tokens = torch.randint(VOCABULARY, (2, CONTEXT + 1), device="cuda")

    def step():
        logits = llama(tokens[:, :-1], angles)
        loss = cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    measure("training step", step, LONG_STEPS)


def jax_step():
    import jax
    import jax.numpy as jnp

    layers, hidden = 16, 2048
    keys = jax.random.split(jax.random.key(1), layers)
    weights = [jax.random.normal(key, (hidden, hidden), jnp.bfloat16) / hidden**0.5 for key in keys]
    x = jnp.ones((CONTEXT, hidden), jnp.bfloat16)

    def loss(weights, x):
        for weight in weights:
            x = x + jax.nn.silu(x @ weight)
        return jnp.mean(jnp.square(x.astype(jnp.float32)))

    @jax.jit
    def update(weights, x):
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return value, [weight - 1e-4 * slope for weight, slope in zip(weights, slopes)]

    def step():
        nonlocal weights
        value, weights = update(weights, x)
        return float(value)

    measure("JAX training step", step)


PROGRAMS = {"eager": eager, "graphs": graphs, "training": training}
wanted = sys.argv[1] if len(sys.argv) == 2 else ""
if wanted not in (*PROGRAMS, "jax"):
    sys.exit(f"Expected eager, graphs, training or jax but received {wanted!r}.")
try:
    if wanted == "jax":
        jax_step()
    else:
        import torch

        PROGRAMS[wanted](torch)
except ImportError as error:
    print(f"{error.name} is not installed", file=sys.stderr)
    sys.exit(3)

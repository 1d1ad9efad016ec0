"""Programs whose call profiles are recorded: one step again and again, between the marks of `gpu-virt-bench profile --marks`.

Usage: python3 bench/profiled.py eager|graphs|training|jax
Decode and training are of a Llama-shaped model of random weights (16 layers, hidden 2048, 32 heads of which 8 for keys, about
1.2 billion parameters). Prints the median time of a step in µs; exits with 3 where a framework is not installed.
"""

import sys
import time

LAYERS, HIDDEN, HEADS, KV_HEADS, MLP, VOCABULARY = 16, 2048, 32, 8, 8192, 32_000
WIDTH = HIDDEN // HEADS
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


def llama(torch):
    from torch import nn
    from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.after = (nn.Parameter(torch.ones(HIDDEN)) for _ in range(2))
            self.q = nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.k = nn.Linear(HIDDEN, KV_HEADS * WIDTH, bias=False)
            self.v = nn.Linear(HIDDEN, KV_HEADS * WIDTH, bias=False)
            self.out = nn.Linear(HIDDEN, HIDDEN, bias=False)
            self.gate, self.up = (nn.Linear(HIDDEN, MLP, bias=False) for _ in range(2))
            self.down = nn.Linear(MLP, HIDDEN, bias=False)

        def forward(self, x, angles, cache=None, position=None):
            batch, length, _ = x.shape
            y = rms_norm(x, (HIDDEN,), self.before)
            q = rotated(self.q(y).view(batch, length, HEADS, WIDTH).transpose(1, 2), angles)
            k = rotated(self.k(y).view(batch, length, KV_HEADS, WIDTH).transpose(1, 2), angles)
            v = self.v(y).view(batch, length, KV_HEADS, WIDTH).transpose(1, 2)
            if cache is not None:
                cache[0].index_copy_(2, position, k)
                cache[1].index_copy_(2, position, v)
                k, v = cache
            y = scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, HIDDEN))
            y = rms_norm(x, (HIDDEN,), self.after)
            return x + self.down(silu(self.gate(y)) * self.up(y))

    def rotated(x, angles):
        a, b = x.chunk(2, -1)
        cos, sin = angles
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
            self.norm = nn.Parameter(torch.ones(HIDDEN))
            self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

        def forward(self, tokens, angles, caches=None, position=None):
            x = self.embedding(tokens)
            for i, layer in enumerate(self.layers):
                x = layer(x, angles, caches[i] if caches is not None else None, position)
            return self.head(rms_norm(x, (HIDDEN,), self.norm))

    torch.manual_seed(1)
    return Model().to("cuda", torch.bfloat16)


def angles_of(torch, length):
    rates = 10_000 ** (-torch.arange(0, WIDTH, 2, device="cuda") / WIDTH)
    turns = torch.outer(torch.arange(length, device="cuda"), rates)
    return turns.cos().to(torch.bfloat16), turns.sin().to(torch.bfloat16)


def decoder(torch):
    """One token at the last position of a full cache, as the step in the middle of a long answer."""
    model = llama(torch)
    caches = [torch.randn(2, 1, KV_HEADS, CONTEXT, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]
    cos, sin = angles_of(torch, CONTEXT)
    position = torch.tensor([CONTEXT - 1], device="cuda")
    token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
    return lambda: model(token, (cos[-1:], sin[-1:]), caches, position)[:, -1].argmax(-1)


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
    from torch.nn.functional import cross_entropy

    model = llama(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    angles = angles_of(torch, CONTEXT)
    tokens = torch.randint(VOCABULARY, (2, CONTEXT + 1), device="cuda")

    def step():
        logits = model(tokens[:, :-1], angles)
        loss = cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    measure("training step", step, LONG_STEPS)


def jax_step():
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(1), LAYERS)
    weights = [jax.random.normal(key, (HIDDEN, HIDDEN), jnp.bfloat16) / HIDDEN**0.5 for key in keys]
    x = jnp.ones((CONTEXT, HIDDEN), jnp.bfloat16)

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

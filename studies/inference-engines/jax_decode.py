"""Greedy decoding in JAX, with a decoder of random weights that has the shape of examples/pytorch/llama.py.

Usage: python jax_decode.py [--prompt N] [--tokens N] [--layers N]
Prefill and step are each one program that XLA compiles; the step writes into the cache of keys and values that it was given. The
first answer compiles; the second is timed and printed as one line of JSON, with the names of examples/pytorch/decode.py.
"""

import argparse
import json
import os
import time

# JAX would take three quarters of the card's memory at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp

LAYERS, HIDDEN, HEADS, KV_HEADS, MLP, VOCABULARY = 16, 2048, 32, 8, 8192, 32_000
WIDTH = HIDDEN // HEADS
SHAPES = {
    "q": (HIDDEN, HIDDEN),
    "k": (HIDDEN, KV_HEADS * WIDTH),
    "v": (HIDDEN, KV_HEADS * WIDTH),
    "out": (HIDDEN, HIDDEN),
    "gate": (HIDDEN, MLP),
    "up": (HIDDEN, MLP),
    "down": (MLP, HIDDEN),
}

parser = argparse.ArgumentParser()
parser.add_argument("--prompt", type=int, default=128)
parser.add_argument("--tokens", type=int, default=256)
parser.add_argument("--layers", type=int, default=LAYERS)
options = parser.parse_args()
if min(options.prompt, options.layers) < 1 or options.tokens < 2:
    parser.error("expected --prompt and --layers of at least 1 and --tokens of at least 2")
context = options.prompt + options.tokens


def random_weights(key, shape, scale):
    return (scale * jax.random.normal(key, shape)).astype(jnp.bfloat16)


def random_model(key):
    keys = iter(jax.random.split(key, 2 + options.layers * len(SHAPES)))
    layer = lambda: {name: random_weights(next(keys), shape, shape[0] ** -0.5) for name, shape in SHAPES.items()}
    return {
        "embedding": random_weights(next(keys), (VOCABULARY, HIDDEN), 1.0),
        "head": random_weights(next(keys), (HIDDEN, VOCABULARY), HIDDEN**-0.5),
        "layers": [layer() for _ in range(options.layers)],
    }


def normed(x):
    """RMSNorm; its weights are 1."""
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)).astype(x.dtype)


def rotated(x, positions):
    rates = 10_000 ** (-jnp.arange(0, WIDTH, 2) / WIDTH)
    turns = positions[:, None] * rates
    cos, sin = (part.astype(x.dtype)[:, None, :] for part in (jnp.cos(turns), jnp.sin(turns)))
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate((a * cos - b * sin, a * sin + b * cos), axis=-1)


def forward(model, caches, tokens, first):
    """The next token after `tokens`, the first of which has the position `first`, and the caches with them."""
    length = tokens.shape[0]
    positions = first + jnp.arange(length)
    mask = jnp.arange(context) <= positions[:, None]
    x = model["embedding"][tokens]
    filled = []
    for layer, (keys, values) in zip(model["layers"], caches):
        y = normed(x)
        q = rotated((y @ layer["q"]).reshape(length, HEADS, WIDTH), positions)
        k = rotated((y @ layer["k"]).reshape(length, KV_HEADS, WIDTH), positions)
        v = (y @ layer["v"]).reshape(length, KV_HEADS, WIDTH)
        keys = jax.lax.dynamic_update_slice(keys, k, (first, 0, 0))
        values = jax.lax.dynamic_update_slice(values, v, (first, 0, 0))
        filled.append((keys, values))
        y = jax.nn.dot_product_attention(q[None], keys[None], values[None], mask=mask[None, None])[0]
        x = x + y.reshape(length, HIDDEN) @ layer["out"]
        y = normed(x)
        x = x + (jax.nn.silu(y @ layer["gate"]) * (y @ layer["up"])) @ layer["down"]
    logits = normed(x[-1:]) @ model["head"]
    return jnp.argmax(logits, axis=-1), filled


# The caches that go in are the memory of those that come out.
compiled = jax.jit(forward, donate_argnums=1)
key = jax.random.key(1)
model = random_model(key)
prompt = jax.random.randint(key, (options.prompt,), 0, VOCABULARY)
shape = (context, KV_HEADS, WIDTH)


def answer():
    """Times at which the host had each token, from the start of the prefill, in seconds; and the sum of the tokens."""
    caches = [(jnp.zeros(shape, jnp.bfloat16), jnp.zeros(shape, jnp.bfloat16)) for _ in range(options.layers)]
    jax.block_until_ready(caches)
    times, checksum, tokens = [], 0, prompt
    begin = time.perf_counter()
    for index in range(options.tokens):
        first = 0 if index == 0 else options.prompt + index - 1
        tokens, caches = compiled(model, caches, tokens, jnp.int32(first))
        checksum += int(tokens[0])  # waits for the device, as a server does that sends the token
        times.append(time.perf_counter() - begin)
    return times, checksum


answer()
times, checksum = answer()
gaps = sorted(after - before for before, after in zip(times, times[1:]))
print(
    json.dumps(
        {
            "platform": jax.devices()[0].platform,
            "ttft_ms": 1e3 * times[0],
            "itl_ms": 1e3 * gaps[len(gaps) // 2],
            "itl_p99_ms": 1e3 * gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))],
            "tokens_per_second": len(gaps) / sum(gaps),
            "checksum": checksum,
        }
    )
)

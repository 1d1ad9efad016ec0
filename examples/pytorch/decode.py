"""Greedy decoding with a Llama-shaped model of random weights: prefill of a prompt, then token after token.

Usage: python decode.py [--mode eager|compile|graph] [--batch N] [--prompt N] [--tokens N] [--layers N] [--seconds N]
                        [--device cuda|cpu]
The first answer warms up; the others, as many as take --seconds together and at least one, are timed and printed as one line of JSON:
  ttft_ms            from the start of the prefill until the host has the first token, of the first answer that is timed
  itl_ms, itl_p99_ms median and 99th percentile of the time from token to token, as the host sees them
  tokens_per_second  of the whole batch, after the first token
  checksum           sum of the tokens of that answer: equal wherever the same work was done by the same kernels
"""

import argparse
import json
import time

import torch
from llama import LAYERS, VOCABULARY, angles_of, empty_caches, model

parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=("eager", "compile", "graph"), default="eager")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--prompt", type=int, default=128)
parser.add_argument("--tokens", type=int, default=256)
parser.add_argument("--layers", type=int, default=LAYERS)
parser.add_argument("--seconds", type=float, default=0)
parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
options = parser.parse_args()
if min(options.batch, options.prompt, options.layers) < 1 or options.tokens < 2:
    parser.error("expected --batch, --prompt and --layers of at least 1 and --tokens of at least 2")
if options.mode == "graph" and options.device == "cpu":
    parser.error("expected --device cuda for --mode graph: a CUDA graph needs a GPU")

device, context = options.device, options.prompt + options.tokens
llama = model(device, options.layers)
cos, sin = angles_of(context, device)
caches = empty_caches(options.batch, context, device, options.layers)
prompt = torch.randint(VOCABULARY, (options.batch, options.prompt), device=device)
places = torch.arange(context, device=device)
# The inputs of a step lie in the same memory every time, which a graph needs.
token = torch.zeros(options.batch, 1, dtype=torch.long, device=device)
position = torch.zeros(1, dtype=torch.long, device=device)


def prefill():
    positions = places[: options.prompt]
    mask = places <= positions[:, None]
    logits = llama(prompt, (cos[positions], sin[positions]), caches, positions, mask)
    token.copy_(logits[:, -1:].argmax(-1))
    position.fill_(options.prompt)


def step():
    mask = places <= position[:, None]
    logits = llama(token, (cos[position], sin[position]), caches, position, mask)
    token.copy_(logits[:, -1:].argmax(-1))
    position.add_(1)


def captured():
    """The step as a CUDA graph, captured behind a few runs as PyTorch asks for."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
            position.fill_(options.prompt)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def answer(one_step):
    """Times at which the host had each token, from the start of the prefill, in seconds; and the sum of the tokens."""
    times, checksum = [], 0
    begin = time.perf_counter()
    prefill()
    for index in range(options.tokens):
        if index > 0:
            one_step()
        checksum += sum(token.flatten().tolist())  # waits for the device, as a server does that sends the token
        times.append(time.perf_counter() - begin)
    return times, checksum


with torch.inference_mode():
    prefill()
    one_step = {"eager": lambda: step, "compile": lambda: torch.compile(step), "graph": captured}[options.mode]()
    answer(one_step)
    answers = [answer(one_step)]
    while sum(times[-1] for times, _ in answers) < options.seconds:
        answers.append(answer(one_step))

gaps = sorted(after - before for times, _ in answers for before, after in zip(times, times[1:]))
first_times, checksum = answers[0]
print(
    json.dumps(
        {
            "mode": options.mode,
            "ttft_ms": 1e3 * first_times[0],
            "itl_ms": 1e3 * gaps[len(gaps) // 2],
            "itl_p99_ms": 1e3 * gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))],
            "tokens_per_second": options.batch * len(gaps) / sum(gaps),
            "checksum": checksum,
        }
    )
)

"""The product of two FP32 matrices of 10 000 rows and columns, as the published studies timed it, without its start.

Usage: python matmul.py [--size N] [--runs N] [--warmup N] [--device cuda|cpu]
Prints one line of JSON per run: ms, TFLOPS. TF32 is off: it would be another precision.
"""

import argparse
import json
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=10_000)
parser.add_argument("--runs", type=int, default=100)
parser.add_argument("--warmup", type=int, default=10)
parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
options = parser.parse_args()
if min(options.size, options.runs) < 1 or options.warmup < 0:
    parser.error("expected --size and --runs of at least 1 and --warmup of at least 0")

torch.backends.cuda.matmul.allow_tf32 = False
torch.manual_seed(1)
# Normal values: zeros would draw less power, and run at a higher clock.
a, b = (torch.randn(options.size, options.size, device=options.device) for _ in range(2))
result = torch.empty_like(a)


def product():
    torch.matmul(a, b, out=result)
    if options.device == "cuda":
        torch.cuda.synchronize()


for _ in range(options.warmup):
    product()
for _ in range(options.runs):
    began = time.perf_counter()
    product()
    seconds = time.perf_counter() - began
    print(json.dumps({"ms": 1e3 * seconds, "tflops": 2 * options.size**3 / seconds / 1e12}))

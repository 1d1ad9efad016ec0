"""Greedy generation with transformers, for a Llama of random weights that has the shape of examples/pytorch/llama.py.

Usage: python generate.py [--prompt N] [--tokens N]
The second answer is timed and printed as one line of JSON: latency_ms of the whole answer, tokens_per_second of it.
"""

import argparse
import json
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--prompt", type=int, default=128)
parser.add_argument("--tokens", type=int, default=256)
options = parser.parse_args()

torch.manual_seed(1)
config = LlamaConfig(
    vocab_size=32_000,
    hidden_size=2048,
    intermediate_size=8192,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
prompt = torch.randint(config.vocab_size, (1, options.prompt), device="cuda")


def answer():
    model.generate(prompt, min_new_tokens=options.tokens, max_new_tokens=options.tokens, do_sample=False)
    torch.cuda.synchronize()


with torch.inference_mode():
    answer()
    began = time.perf_counter()
    answer()
    seconds = time.perf_counter() - began
print(json.dumps({"latency_ms": 1e3 * seconds, "tokens_per_second": options.tokens / seconds}))

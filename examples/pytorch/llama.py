"""A decoder of Llama's shape with random weights: RMSNorm, rotary positions, grouped key-value heads, SwiGLU."""

import torch
from torch import nn
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu

LAYERS, HIDDEN, HEADS, KV_HEADS, MLP, VOCABULARY = 16, 2048, 32, 8, 8192, 32_000  # about 1.1 billion parameters
WIDTH = HIDDEN // HEADS


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

    def forward(self, x, angles, cache=None, positions=None, mask=None):
        batch, length, _ = x.shape
        y = rms_norm(x, (HIDDEN,), self.before)
        q = rotated(self.q(y).view(batch, length, HEADS, WIDTH).transpose(1, 2), angles)
        k = rotated(self.k(y).view(batch, length, KV_HEADS, WIDTH).transpose(1, 2), angles)
        v = self.v(y).view(batch, length, KV_HEADS, WIDTH).transpose(1, 2)
        if cache is not None:
            cache[0].index_copy_(2, positions, k)
            cache[1].index_copy_(2, positions, v)
            k, v = cache
        y = scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=cache is None, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, HIDDEN))
        y = rms_norm(x, (HIDDEN,), self.after)
        return x + self.down(silu(self.gate(y)) * self.up(y))


def rotated(x, angles):
    a, b = x.chunk(2, -1)
    cos, sin = angles
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


class Llama(nn.Module):
    def __init__(self, layers=LAYERS):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.norm = nn.Parameter(torch.ones(HIDDEN))
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def forward(self, tokens, angles, caches=None, positions=None, mask=None):
        """Logits of every token. `positions` are the places of `tokens` in `caches`, and `mask` says which places each attends to."""
        x = self.embedding(tokens)
        for i, layer in enumerate(self.layers):
            x = layer(x, angles, caches[i] if caches is not None else None, positions, mask)
        return self.head(rms_norm(x, (HIDDEN,), self.norm))


def model(device="cuda", layers=LAYERS):
    torch.manual_seed(1)
    return Llama(layers).to(device, torch.bfloat16)


def angles_of(length, device="cuda"):
    """Cosines and sines of the rotary positions 0 to length - 1."""
    rates = 10_000 ** (-torch.arange(0, WIDTH, 2, device=device) / WIDTH)
    turns = torch.outer(torch.arange(length, device=device), rates)
    return turns.cos().to(torch.bfloat16), turns.sin().to(torch.bfloat16)


def empty_caches(batch, context, device="cuda", layers=LAYERS):
    return torch.zeros(layers, 2, batch, KV_HEADS, context, WIDTH, device=device, dtype=torch.bfloat16)

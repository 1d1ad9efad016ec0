"""How fast PyTorch gathers on all visible GPUs, by the size of a result, operations in a burst, number of buffers, and in
place or not: what makes the rate of NCCL-002 differ from others'. Prints GB/s by the host's clock and by events.

Usage: python3 bench/all-gather.py        NVLink multicast is off; takes about 15 s on two GPUs.
"""

import os
import statistics
import time

# Before PyTorch: it sets NCCL's variables, which turn NVLink multicast off.
from nccl import MIB, free_port, numbers, slowest

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

BURSTS = 12


def per_operation(works, operations):
    """Seconds of an operation on the slowest rank, by the host's clock and by events: medians over bursts."""
    host, device = [], []
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(BURSTS + 1):
        dist.barrier()
        torch.cuda.synchronize()
        start = time.perf_counter()
        began.record()
        for i in range(operations):
            works[i % len(works)]()
        ended.record()
        torch.cuda.synchronize()
        host.append(slowest((time.perf_counter() - start) / operations))
        device.append(slowest(began.elapsed_time(ended) / 1e3 / operations))
    return statistics.median(host[1:]), statistics.median(device[1:])


def measured(rank, ranks, size):
    results = [numbers(size * MIB) for _ in range(4)]
    parts = [numbers(size * MIB // ranks) for _ in range(4)]

    def gather(result, part):
        return lambda: dist.all_gather_into_tensor(result, part)

    kinds = {
        "one buffer": [gather(results[0], parts[0])],
        "four buffers": [gather(result, part) for result, part in zip(results, parts)],
        "four results, one part": [gather(result, parts[0]) for result in results],
        "four in place": [gather(result, result.chunk(ranks)[rank]) for result in results],
    }
    for operations in (1, 4, 16):
        for kind, works in kinds.items():
            rates = [(ranks - 1) / ranks * size * MIB / seconds / 1e9 for seconds in per_operation(works, operations)]
            if rank == 0:
                print(f"{size} MiB, {operations} operations, {kind}:", *(f"{rate:.1f}" for rate in rates), flush=True)


def rank_of(rank, ranks, port):
    os.environ["MASTER_PORT"] = str(port)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    for size in (64, 256, 1024):
        measured(rank, ranks, size)
        torch.cuda.empty_cache()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks = torch.cuda.device_count()
    processes.spawn(rank_of, (ranks, free_port()), nprocs=ranks)

"""What PyTorch reaches on all visible GPUs where NCCL-001 to NCCL-004 and LLM-010 measure: the same sizes in bursts of the
same length, one process on each GPU, the time of the slowest. bench/several-gpus.js starts it through exec.

Prints one JSON line: the medians, with the numbers of GPUs and the version of NCCL. NVLink multicast is off.
"""

import ctypes
import itertools
import json
import os
import socket
import statistics
import time

for name, value in {
    "NCCL_NVLS_ENABLE": "0",
    "NCCL_SOCKET_IFNAME": "lo",
    "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
    "MASTER_ADDR": "127.0.0.1",
}.items():
    os.environ[name] = value

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

KIB = 1024
MIB = 1024 * KIB
FLOAT = 4
TOKENS, HIDDEN, MLP = 2048, 8192, 28672
STEPS = 40
IN_GRAPH = 100


def slowest(seconds):
    longest = torch.tensor([seconds], dtype=torch.float64, device="cuda")
    dist.all_reduce(longest, op=dist.ReduceOp.MAX)
    return longest.item()


def per_operation(work, operations, bursts):
    """Seconds of an operation in a burst of several, on the slowest rank: the median over bursts, after one that warms up."""
    times = []
    for _ in range(bursts + 1):
        dist.barrier()
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(operations):
            work()
        torch.cuda.synchronize()
        times.append(slowest((time.perf_counter() - began) / operations))
    return statistics.median(times[1:])


def numbers(size):
    return torch.zeros(size // FLOAT, device="cuda")


def reduced(size, operations, bursts):
    tensor = numbers(size)
    return per_operation(lambda: dist.all_reduce(tensor), operations, bursts)


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


class Nccl:
    """NCCL itself, without PyTorch's own work for a call and its streams."""

    FLOAT32, SUM = 7, 0

    def __init__(self, rank, ranks):
        self.library = ctypes.CDLL("libnccl.so.2")
        self.communicator = ctypes.c_void_p()
        self.library.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
        self.library.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t] + [
            *[ctypes.c_int] * 2,
            *[ctypes.c_void_p] * 2,
        ]
        unique = UniqueId()
        if rank == 0:
            self.checked(self.library.ncclGetUniqueId(ctypes.byref(unique)))
        shared = [bytes(unique)]
        dist.broadcast_object_list(shared, 0)
        unique = UniqueId.from_buffer_copy(shared[0])
        self.checked(self.library.ncclCommInitRank(ctypes.byref(self.communicator), ranks, unique, rank))

    @staticmethod
    def checked(code):
        if code != 0:
            raise RuntimeError(f"NCCL answered {code}")

    def all_reduce(self, tensor):
        stream = torch.cuda.current_stream().cuda_stream
        place, count = tensor.data_ptr(), tensor.numel()
        self.checked(
            self.library.ncclAllReduce(place, place, count, self.FLOAT32, self.SUM, self.communicator, stream)
        )


def reduced_by_nccl(nccl, size, operations, bursts):
    tensor = numbers(size)
    return per_operation(lambda: nccl.all_reduce(tensor), operations, bursts)


def reduced_in_graph(all_reduce, size, operations, bursts):
    """With the operations in a CUDA graph: without the host's time for a call."""
    tensor, graph = numbers(size), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(IN_GRAPH):
            all_reduce(tensor)
    return per_operation(graph.replay, operations // IN_GRAPH, bursts) / IN_GRAPH


def gathered(size, ranks):
    result, part = numbers(size), numbers(size // ranks)
    return per_operation(lambda: dist.all_gather_into_tensor(result, part), 4, 12)


def broadcast(size, ranks):
    """The median over roots."""
    tensor = numbers(size)
    return statistics.median(
        per_operation(lambda root=root: dist.broadcast(tensor, root), 4, 12 // ranks) for root in range(ranks)
    )


class Block:
    """Value and output projection, up and down projection of a transformer block, split among `ranks` as LLM-010 splits them."""

    def __init__(self, ranks):
        def weight(columns, rows):
            return torch.randn(columns, rows, device="cuda", dtype=torch.bfloat16) / rows**0.5

        self.ranks = ranks
        self.x = torch.randn(TOKENS, HIDDEN, device="cuda", dtype=torch.bfloat16)
        self.pairs = [
            (weight(HIDDEN // ranks, HIDDEN), weight(HIDDEN, HIDDEN // ranks)),
            (weight(MLP // ranks, HIDDEN), weight(HIDDEN, MLP // ranks)),
        ]

    def step(self):
        y = self.x
        for first, second in self.pairs:
            y = (y @ first.t()) @ second.t()
            if self.ranks > 1:
                dist.all_reduce(y)


def scaling(ranks):
    whole, shard = Block(1), Block(ranks)
    times = [[per_operation(block.step, STEPS, 1) for block in (whole, shard)] for _ in range(5)]
    alone, together = (1e3 * statistics.median(column) for column in zip(*times))
    return {"scaling": alone / together, "wholeMs": alone, "stepMs": together}


def copied(source, target):
    """GB/s of a copy of 256 MiB by events."""
    size = 256 * MIB
    here = torch.zeros(size, dtype=torch.uint8, device=f"cuda:{source}")
    there = torch.empty_like(here, device=f"cuda:{target}")
    rates = []
    with torch.cuda.device(source):
        for _ in range(14):
            began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            began.record()
            there.copy_(here)
            ended.record()
            ended.synchronize()
            rates.append(size / began.elapsed_time(ended) / 1e6)
    return statistics.median(rates[2:])


def rank_of(rank, ranks, port, results):
    os.environ["MASTER_PORT"] = str(port)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    nccl = Nccl(rank, ranks)
    large = 64 * MIB
    most = 256 * MIB
    measured = {
        "allReduceUs": 1e6 * reduced(8 * KIB, 1000, 12),
        "allReduceGraphUs": 1e6 * reduced_in_graph(dist.all_reduce, 8 * KIB, 1000, 12),
        "ncclAllReduceUs": 1e6 * reduced_by_nccl(nccl, 8 * KIB, 1000, 12),
        "ncclAllReduceGraphUs": 1e6 * reduced_in_graph(nccl.all_reduce, 8 * KIB, 1000, 12),
        "allReduceGbs": 2 * (ranks - 1) / ranks * large / reduced(large, 3, 6) / 1e9,
        "allGatherGbs": (ranks - 1) / ranks * most / gathered(most, ranks) / 1e9,
        "broadcastGbs": most / broadcast(most, ranks) / 1e9,
        **scaling(ranks),
    }
    dist.barrier()
    if rank == 0:
        results.put(measured)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


if __name__ == "__main__":
    count = torch.cuda.device_count()
    results = processes.get_context("spawn").SimpleQueue()
    processes.spawn(rank_of, (count, free_port(), results), nprocs=count)
    peer = min(copied(source, target) for source, target in itertools.permutations(range(count), 2))
    version = ".".join(map(str, torch.cuda.nccl.version()))
    print(json.dumps({"gpus": count, "nccl": version, **results.get(), "peerGbs": peer}), flush=True)

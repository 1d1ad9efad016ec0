"""Parts of the way from a command to a GPU in a container, each repeated and timed in one process.

Usage: python passthrough.py PART [COUNT]
       python passthrough.py size PROGRAM
  discover  NVML: initialise, name, UUID and memory of every GPU, shut down
  driver    the version of the driver from /proc
  device    whether the device node of the first GPU is there
  cdi       a CDI specification: device nodes and libraries looked up, written as JSON in memory
Prints a line of JSON with the microseconds of each repetition, after 10 that do not count; for size, with the bytes of the file.
"""

import ctypes
import json
import os
import re
import shutil
import sys
import time

LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu")


def discover():
    nvml = ctypes.CDLL("libnvidia-ml.so.1")

    def call(name, *arguments):
        code = getattr(nvml, name)(*arguments)
        if code != 0:
            sys.exit(f"{name} returned {code}")

    def once():
        call("nvmlInit_v2")
        count = ctypes.c_uint()
        call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        text, memory = ctypes.create_string_buffer(96), (ctypes.c_ulonglong * 3)()
        for index in range(count.value):
            device = ctypes.c_void_p()
            call("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(device))
            call("nvmlDeviceGetName", device, text, 96)
            call("nvmlDeviceGetUUID", device, text, 96)
            call("nvmlDeviceGetMemoryInfo", device, memory)
        call("nvmlShutdown")

    return once


def driver():
    with open("/proc/driver/nvidia/version") as file:
        return re.search(r"\d+\.\d+(\.\d+)?", file.read()).group()


def device():
    return os.access("/dev/nvidia0", os.R_OK | os.W_OK)


def cdi():
    nodes = sorted(name for name in os.listdir("/dev") if name.startswith("nvidia"))
    if not nodes:
        sys.exit("there is no device node of the driver in /dev")
    wanted = re.compile(r"lib(cuda|nvidia-ml|nvidia-ptxjitcompiler)\.so")
    folders = [folder for folder in LIBRARIES if os.path.isdir(folder)]
    files = [os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if wanted.match(name)]
    mounts = [{"hostPath": os.path.realpath(path), "containerPath": path} for path in files]
    edits = {"deviceNodes": [{"path": f"/dev/{name}"} for name in nodes], "mounts": mounts}
    return json.dumps({"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "containerEdits": edits})


def size(program):
    path = shutil.which(program)
    if path is None:
        sys.exit(f"{program} is not in PATH")
    print(json.dumps({"bytes": os.path.getsize(os.path.realpath(path))}))


if len(sys.argv) == 3 and sys.argv[1] == "size":
    sys.exit(size(sys.argv[2]))
parts = {"discover": discover, "driver": lambda: driver, "device": lambda: device, "cdi": lambda: cdi}
if len(sys.argv) not in (2, 3) or sys.argv[1] not in parts:
    sys.exit(f"expected one of {', '.join(parts)}, and a count")
one = parts[sys.argv[1]]()
count = int(sys.argv[2]) if len(sys.argv) == 3 else 3_000
for index in range(-10, count):
    began = time.perf_counter_ns()
    one()
    ended = time.perf_counter_ns()
    if index >= 0:
        print(json.dumps({"us": (ended - began) / 1_000}))

// The card shared by several processes: faults, neighbours, limits, unequal cards, shared memory.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <vector>

#include "sim_measure.h"

namespace test {
namespace {

constexpr const char* kMps = GVB_FAST ",mps=1";
constexpr unsigned kWholeCard = 264;  // blocks of 1024 threads that fit at a time

// A message from one part of this program to another.
class Note {
 public:
  Note() {
    std::snprintf(path_, sizeof path_, "/tmp/gvb-sim-test-XXXXXX");
    close(mkstemp(path_));
    setenv("GVB_TEST_NOTE", path_, 1);
  }
  ~Note() { unlink(path_); }
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

  template <class T>
  static void write(const T& value) {
    const int file = open(std::getenv("GVB_TEST_NOTE"), O_WRONLY);
    CHECK_EQUAL(::write(file, &value, sizeof value), static_cast<ssize_t>(sizeof value));
    close(file);
  }

  template <class T>
  T read() const {
    T value{};
    for (int i = 0; i < 40000; ++i) {
      const int file = open(path_, O_RDONLY);
      const bool complete = ::read(file, &value, sizeof value) == sizeof value;
      close(file);
      if (complete) return value;
      usleep(1000);
    }
    CHECK(false);
    return value;
  }

 private:
  char path_[64];
};

struct Stamps {
  long long begin;
  long long end;
};

// Runs a kernel that needs all multiprocessors for `spin` ns.
Stamps occupy(unsigned long long spin, unsigned blocks, CUfunction function) {
  CUdeviceptr at = 0;
  Stamps stamps{};
  CHECK_EQUAL(cuMemAlloc_v2(&at, 16), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(at, 0, 16), CUDA_SUCCESS);
  CUdeviceptr not_counted = 0;
  void* arguments[] = {&at, &spin, &not_counted};
  CHECK_EQUAL(cuLaunchKernel(function, blocks, 1, 1, 1024, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(&stamps, at, 16), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(at), CUDA_SUCCESS);
  return stamps;
}

Stamps occupy(unsigned long long spin, unsigned blocks = kWholeCard) {
  return occupy(spin, blocks, kernel("gvb_occupy"));
}

int wait_for_end(int child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

nvmlDevice_t nvml_device(unsigned index) {
  nvmlDevice_t device = nullptr;
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(index, &device), NVML_SUCCESS);
  return device;
}

// Every kind of call returns it, not only the next wait.
void check_sticky(CUresult code, CUevent recorded) {
  CUdeviceptr address = 0;
  size_t free = 0, total = 0;
  float milliseconds = 0;
  CUstream stream = nullptr;
  CHECK_EQUAL(cuCtxSynchronize(), code);
  CHECK_EQUAL(cuMemAlloc_v2(&address, 4), code);
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), code);
  CHECK_EQUAL(cuStreamCreate(&stream, 0), code);
  CHECK_EQUAL(cuStreamQuery(nullptr), code);
  CHECK_EQUAL(cuStreamSynchronize(nullptr), code);
  CHECK_EQUAL(cuEventQuery(recorded), code);
  CHECK_EQUAL(cuEventSynchronize(recorded), code);
  CHECK_EQUAL(cuEventElapsedTime(&milliseconds, recorded, recorded), code);
  CHECK_EQUAL(cuMemcpyDtoH_v2(&address, 0x1000, 4), code);
  // As on an H200, calls that only name the context still work.
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK_EQUAL(cuCtxGetDevice(&device), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxGetCurrent(&context), CUDA_SUCCESS);
}

}  // namespace

void faults() {
  struct Kind {
    const char* kernel;
    CUresult code;
    unsigned long long xid;
  };
  const Kind kinds[] = {{"gvb_out_of_bounds", CUDA_ERROR_ILLEGAL_ADDRESS, 31},
                        {"gvb_misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, 13},
                        {"gvb_trap", CUDA_ERROR_LAUNCH_FAILED, 43},
                        {"gvb_assert", CUDA_ERROR_ASSERT, 43}};
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  nvmlEventSet_t set = nullptr;
  const nvmlDevice_t device = nvml_device(0);
  CHECK_EQUAL(nvmlEventSetCreate(&set), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceRegisterEvents(device, nvmlEventTypeXidCriticalError, set), NVML_SUCCESS);
  nvmlEventData_t event = {};
  for (const Kind& kind : kinds) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUevent recorded = nullptr;
    CHECK_EQUAL(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr), CUDA_SUCCESS);
    CHECK_EQUAL(cuModuleGetFunction(&function, module, kind.kernel), CUDA_SUCCESS);
    CHECK_EQUAL(cuEventCreate(&recorded, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    CHECK_EQUAL(nvmlEventSetWait_v2(set, &event, 0), NVML_ERROR_TIMEOUT);
    CHECK_EQUAL(cuEventRecord(recorded, nullptr), CUDA_SUCCESS);
    CUdeviceptr no_stamp = 0;
    void* arguments[] = {&no_stamp};
    CHECK_EQUAL(launch(function, nullptr, arguments), CUDA_SUCCESS);
    check_sticky(kind.code, recorded);
    CHECK_EQUAL(nvmlEventSetWait_v2(set, &event, 1000), NVML_SUCCESS);
    CHECK_EQUAL(event.eventData, kind.xid);
    CHECK(event.device == device);
    // The next context of the process works again.
    CHECK_EQUAL(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  }
  CHECK_EQUAL(nvmlEventSetFree(set), NVML_SUCCESS);
  CHECK_EQUAL(nvmlEventSetFree(set), NVML_ERROR_INVALID_ARGUMENT);
}

// Has 100 s of work on the card when its neighbour fails.
void long_work() {
  enter_primary();
  CUdeviceptr at = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&at, 16), CUDA_SUCCESS);
  unsigned long long spin = 100'000'000'000;
  CUdeviceptr not_counted = 0;
  void* arguments[] = {&at, &spin, &not_counted};
  CHECK_EQUAL(cuLaunchKernel(kernel("gvb_occupy"), kWholeCard, 1, 1, 1024, 1, 1, 0, nullptr, arguments, nullptr),
              CUDA_SUCCESS);
  Note::write(1);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  CHECK_EQUAL(cuMemFree_v2(at), CUDA_ERROR_MISALIGNED_ADDRESS);
  pause();
}

void refused_client() {
  CUcontext context = nullptr;
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK_EQUAL(cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_MPS_SERVER_NOT_READY);
}

// A fault of one client fails all clients, and the server accepts no new one until they have left.
void mps_faults() {
  const Note note;
  CUcontext context = enter_primary();
  const int neighbour = start_part("longWork", kMps, own_region());
  CHECK_EQUAL(note.read<int>(), 1);
  CUdeviceptr no_stamp = 0;
  void* arguments[] = {&no_stamp};
  CHECK_EQUAL(launch(kernel("gvb_misaligned"), nullptr, arguments), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  CHECK_EQUAL(run_part("refusedClient", kMps, own_region()), 0);
  CHECK_EQUAL(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  CHECK_EQUAL(run_part("refusedClient", kMps, own_region()), 0);
  kill(neighbour, SIGKILL);
  waitpid(neighbour, nullptr, 0);
  CHECK_EQUAL(run_part("initialised", kMps, own_region()), 0);
  (void)context;
}

void endless() {
  enter_primary();
  CHECK_EQUAL(launch(kernel("gvb_endless"), nullptr, nullptr), CUDA_SUCCESS);
  Note::write(1);
  pause();
}

// With slices of 2 ms, 10 ms of work take at least 18 ms beside an endless kernel, and 10 ms again once its process is
// killed.
void endless_neighbour() {
  const Note note;
  enter_primary();
  const int child = start_part("endless", kFast, own_region());
  CHECK_EQUAL(note.read<int>(), 1);
  const Stamps beside = occupy(10'000'000);
  CHECK(double(beside.end - beside.begin) >= 18e6);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  size_t free = 0, total = 0;
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  const Stamps alone = occupy(10'000'000);
  CHECK_NEAR(double(alone.end - alone.begin), 10'001'000, 100);
}

constexpr unsigned long long kHalfNs = 300'000'000;

void half() {
  enter_primary();
  Note::write(1);
  Note::write(occupy(kHalfNs));
}

// Two MPS clients with 300 ms of the whole card each: both run at half speed while both run, so their durations
// together are 600 ms plus the time in which they overlap.
void two_halves() {
  enter_primary();
  long long overlap = 0;
  for (int i = 0; i < 20 && overlap <= 0; ++i) {
    const Note note;
    const int child = start_part("half", kMps, own_region());
    CHECK_EQUAL(note.read<int>(), 1);
    const Stamps own = occupy(kHalfNs);
    const Stamps other = note.read<Stamps>();
    overlap = std::min(own.end, other.end) - std::max(own.begin, other.begin);
    const long long together = own.end - own.begin + other.end - other.begin;
    if (overlap > 0) CHECK_NEAR(double(together - overlap), 2 * (double(kHalfNs) + 1000), 200);
    CHECK_EQUAL(wait_for_end(child), 0);
  }
  CHECK(overlap > 0);
}

// Half of the multiprocessors, a tenth of the memory.
void mps_limits() {
  setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50", 1);
  setenv("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "1=5G,0=1000M", 1);
  enter_primary();
  int multiprocessors = 0;
  CHECK_EQUAL(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
  CHECK_EQUAL(multiprocessors, 66);
  const Stamps whole = occupy(1'000'000);
  CHECK_NEAR(double(whole.end - whole.begin), 2'002'000, 100);
  const Stamps few = occupy(1'000'000, kWholeCard / 2);
  CHECK_NEAR(double(few.end - few.begin), 1'001'000, 100);
  size_t free = 0, total = 0;
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CHECK_EQUAL(total, 143771 * kMiB);
  CHECK_EQUAL(free, (1000 - 500) * kMiB);  // includes the context
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&address, free + 1), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(cuMemAlloc_v2(&address, free), CUDA_SUCCESS);
}

namespace {

int multiprocessors_of(int device) {
  int value = 0;
  CHECK_EQUAL(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device), CUDA_SUCCESS);
  return value;
}

}  // namespace

// By default the card with most multiprocessors comes first, also for the indexes in CUDA_VISIBLE_DEVICES.
void unlike_order() {
  setenv("CUDA_VISIBLE_DEVICES", "0,2,1", 1);
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK_EQUAL(multiprocessors_of(0), 70);
  CHECK_EQUAL(multiprocessors_of(1), 30);
  CHECK_EQUAL(multiprocessors_of(2), 50);
}

void unlike_cards() {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CHECK_EQUAL(multiprocessors_of(0), 100);
  CHECK_EQUAL(multiprocessors_of(1), 50);
  CHECK_EQUAL(multiprocessors_of(2), 100);
  size_t bytes = 0;
  CHECK_EQUAL(cuDeviceTotalMem_v2(&bytes, 1), CUDA_SUCCESS);
  CHECK_EQUAL(bytes, 143771 * kMiB);
  CHECK_EQUAL(cuDeviceTotalMem_v2(&bytes, 2), CUDA_SUCCESS);
  CHECK_EQUAL(bytes, 1000 * kMiB);
  nvmlMemory_t memory = {};
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo(nvml_device(2), &memory), NVML_SUCCESS);
  CHECK_EQUAL(memory.total, 1000 * kMiB);
  // 264 blocks fit on 132 multiprocessors at a time: two waves on one card, three on the other.
  for (const int device : {0, 1}) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CHECK_EQUAL(cuCtxCreate_v2(&context, 0, device), CUDA_SUCCESS);
    CHECK_EQUAL(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr), CUDA_SUCCESS);
    CHECK_EQUAL(cuModuleGetFunction(&function, module, "gvb_occupy"), CUDA_SUCCESS);
    const Stamps stamps = occupy(1'000'000, kWholeCard, function);
    CHECK_NEAR(double(stamps.end - stamps.begin), device == 0 ? 2'001'000 : 3'001'000, 100);
  }
}

void mig() {
  // Without a list a program sees the first instance of a split card.
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  int count = 0, multiprocessors = 0;
  CHECK_EQUAL(cuDeviceGetCount(&count), CUDA_SUCCESS);
  CHECK_EQUAL(count, 2);
  CHECK_EQUAL(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1), CUDA_SUCCESS);
  CHECK_EQUAL(multiprocessors, 60);
  char name[96] = {};
  CHECK_EQUAL(cuDeviceGetName(name, sizeof name, 1), CUDA_SUCCESS);
  CHECK(std::strstr(name, " MIG 3g.75gb") != nullptr);
  CHECK_EQUAL(cuDeviceCanAccessPeer(&count, 0, 1), CUDA_SUCCESS);
  CHECK_EQUAL(count, 0);

  const nvmlDevice_t card = nvml_device(1);
  unsigned current = 9, pending = 9, instances = 0;
  CHECK_EQUAL(nvmlDeviceGetMigMode(nvml_device(0), &current, &pending), NVML_SUCCESS);
  CHECK_EQUAL(current, 0u);
  CHECK_EQUAL(nvmlDeviceGetMigMode(card, &current, &pending), NVML_SUCCESS);
  CHECK_EQUAL(current, 1u);
  nvmlDevice_t instance = nullptr, parent = nullptr;
  while (nvmlDeviceGetMigDeviceHandleByIndex(card, instances, &instance) == NVML_SUCCESS) ++instances;
  CHECK_EQUAL(instances, 3u);
  CHECK_EQUAL(nvmlDeviceGetMigDeviceHandleByIndex(card, 1, &instance), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceIsMigDeviceHandle(instance, &current), NVML_SUCCESS);
  CHECK_EQUAL(current, 1u);
  CHECK_EQUAL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(instance, &parent), NVML_SUCCESS);
  CHECK(parent == card);
  char uuid[96] = {};
  CHECK_EQUAL(nvmlDeviceGetUUID(instance, uuid, sizeof uuid), NVML_SUCCESS);
  CHECK(std::strncmp(uuid, "MIG-", 4) == 0);
  nvmlMemory_t memory = {};
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo(instance, &memory), NVML_SUCCESS);
  CHECK_EQUAL(memory.total, 143771 / 4 * kMiB);

  // The second instance, selected by UUID, in a process of its own: 32 multiprocessors, and the card lists the process.
  const Note note;
  setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
  const int child = start_part("holdMemory", (std::string(kFast) + ",devices=2,mig@1=3+2+1").c_str(), own_region());
  for (int i = 0; i < 40000; ++i, usleep(1000)) {
    CHECK_EQUAL(nvmlDeviceGetMemoryInfo(instance, &memory), NVML_SUCCESS);
    if (memory.used > 1500 * kMiB) break;
  }
  CHECK_EQUAL(memory.used, (1500 + 2) * kMiB);
  nvmlProcessInfo_t process = {};
  unsigned listed = 1;
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(card, &listed, &process), NVML_SUCCESS);
  CHECK_EQUAL(listed, 1u);
  CHECK_EQUAL(process.pid, unsigned(child));
  CHECK_EQUAL(process.gpuInstanceId, 1u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

void exporter() {
  enter_primary();
  CUdeviceptr address = 0, freed = 0;
  struct {
    CUipcMemHandle live, stale;
  } handles{};
  CHECK_EQUAL(cuMemAlloc_v2(&freed, kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemAlloc_v2(&address, kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuIpcGetMemHandle(&handles.stale, freed), CUDA_SUCCESS);
  CHECK_EQUAL(cuIpcGetMemHandle(&handles.live, address), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemFree_v2(freed), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(address, 0x5a, kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CUdeviceptr own = 0;
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&own, handles.live, 1), CUDA_ERROR_INVALID_CONTEXT);
  Note::write(handles);
  // Waits until the importer has answered in the memory itself.
  unsigned char answer = 0;
  for (int i = 0; i < 40000 && answer != 0xa5; ++i, usleep(1000))
    CHECK_EQUAL(cuMemcpyDtoH_v2(&answer, address + kMiB - 1, 1), CUDA_SUCCESS);
  CHECK_EQUAL(answer, 0xa5);
  if (failures > 0) std::exit(1);
  pause();
}

void ipc() {
  const Note note;
  enter_primary();
  const int child = start_part("exporter", kFast, own_region());
  struct Handles {
    CUipcMemHandle live, stale;
  };
  const Handles handles = note.read<Handles>();
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&address, handles.stale, 1), CUDA_ERROR_INVALID_VALUE);
  CUipcMemHandle forged = handles.live;
  forged.reserved[9] ^= 1;
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&address, forged, 1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&address, {}, 1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&address, handles.live, 1), CUDA_SUCCESS);
  unsigned char first = 0;
  CHECK_EQUAL(cuMemcpyDtoH_v2(&first, address, 1), CUDA_SUCCESS);
  CHECK_EQUAL(first, 0x5a);
  CHECK_EQUAL(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemsetD8_v2(address + kMiB - 1, 0xa5, 1), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CUdeviceptr another = 0;
  CHECK_EQUAL(cuIpcOpenMemHandle_v2(&another, handles.live, 1), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
  CHECK_EQUAL(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
}

void shareable_handles() {
  enter_primary();
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle plain = 0, shareable = 0, imported = 0;
  const size_t bytes = 2 * kMiB;
  int file = -1;
  CHECK_EQUAL(cuMemCreate(&plain, bytes, &properties, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemExportToShareableHandle(&file, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_ERROR_INVALID_VALUE);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CHECK_EQUAL(cuMemCreate(&shareable, bytes, &properties, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemExportToShareableHandle(&file, shareable, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_SUCCESS);
  const auto as_pointer = [](int descriptor) { return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)); };
  const int foreign = open("/proc/self/exe", O_RDONLY);
  CHECK_EQUAL(cuMemImportFromShareableHandle(&imported, as_pointer(foreign), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_INVALID_VALUE);
  CHECK_EQUAL(cuMemImportFromShareableHandle(&imported, as_pointer(file), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_SUCCESS);
  close(foreign);
  close(file);
  CUdeviceptr address = 0;
  CHECK_EQUAL(cuMemAddressReserve(&address, 2 * bytes, 0, 0, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemMap(address, bytes, 0, shareable, 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemMap(address + bytes, bytes, 0, imported, 0), CUDA_SUCCESS);
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK_EQUAL(cuMemSetAccess(address, 2 * bytes, &access, 1), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD8_v2(address + 77, 0x7b, 1), CUDA_SUCCESS);
  unsigned char seen = 0;
  CHECK_EQUAL(cuMemcpyDtoH_v2(&seen, address + bytes + 77, 1), CUDA_SUCCESS);
  CHECK_EQUAL(seen, 0x7b);
  CHECK_EQUAL(cuMemUnmap(address, 2 * bytes), CUDA_SUCCESS);
  for (const CUmemGenericAllocationHandle handle : {plain, shareable, imported})
    CHECK_EQUAL(cuMemRelease(handle), CUDA_SUCCESS);
}

void peers() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  CUcontext contexts[2] = {};
  CUdeviceptr words[2] = {};
  for (const int device : {1, 0}) {
    CHECK_EQUAL(cuCtxCreate_v2(&contexts[device], 0, device), CUDA_SUCCESS);
    CHECK_EQUAL(cuMemAlloc_v2(&words[device], kMiB), CUDA_SUCCESS);
  }
  int can = 0;
  CHECK_EQUAL(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  CHECK_EQUAL(can, 1);
  CHECK_EQUAL(cuCtxDisablePeerAccess(contexts[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CHECK_EQUAL(cuCtxEnablePeerAccess(contexts[0], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  CHECK_EQUAL(cuCtxEnablePeerAccess(contexts[1], 0), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxEnablePeerAccess(contexts[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);

  // 1 MB over a link of 100 MB/s takes 10 ms of the timeline, unless the host was late with the second of the two.
  CUevent begin = nullptr, end = nullptr;
  CHECK_EQUAL(cuEventCreate(&begin, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  CHECK_EQUAL(cuEventCreate(&end, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  const auto milliseconds_of = [&](const std::function<CUresult()>& work) {
    float milliseconds = 0;
    CHECK_EQUAL(work(), CUDA_SUCCESS);
    CHECK_EQUAL(cuEventRecord(begin, nullptr), CUDA_SUCCESS);
    CHECK_EQUAL(work(), CUDA_SUCCESS);
    CHECK_EQUAL(cuEventRecord(end, nullptr), CUDA_SUCCESS);
    CHECK_EQUAL(cuEventSynchronize(end), CUDA_SUCCESS);
    CHECK_EQUAL(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
    return double(milliseconds);
  };
  constexpr int kTimes = 10;
  const auto copy = [&] { return cuMemcpyPeerAsync(words[1], contexts[1], words[0], contexts[0], 1'000'000, nullptr); };
  CHECK_NEAR(shortest_of([&] { return milliseconds_of(copy); }, kTimes), 10.0, 1e-3);

  // A kernel may write there now, at the link's rate; without access, the context would fail.
  const unsigned count = 250'000, seed = 3;
  void* arguments[] = {&words[1], const_cast<unsigned*>(&count), const_cast<unsigned*>(&seed)};
  const auto mix = [&] { return launch(kernel("gvb_mix"), nullptr, arguments); };
  CHECK_NEAR(shortest_of([&] { return milliseconds_of(mix); }, kTimes), 10.0, 0.1);
  unsigned value = 0;
  CHECK_EQUAL(cuMemcpyDtoH_v2(&value, words[1], 4), CUDA_SUCCESS);
  CHECK_EQUAL(value, 3 * 2654435761u);
  // What the other card's own work left is there for a copy of this one, also where nobody has looked at it yet.
  CUdeviceptr unseen = 0;
  CHECK_EQUAL(cuCtxSetCurrent(contexts[1]), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemAlloc_v2(&unseen, kMiB), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD32_v2(unseen, 5, count), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSetCurrent(contexts[0]), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyPeerAsync(words[0], contexts[0], unseen, contexts[1], 1'000'000, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemcpyDtoH_v2(&value, words[0], 4), CUDA_SUCCESS);
  CHECK_EQUAL(value, 5u);
  int attribute = 7;
  CHECK_EQUAL(cuDeviceGetP2PAttribute(&attribute, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1), CUDA_SUCCESS);
  CHECK_EQUAL(attribute, 1);
  CHECK_EQUAL(cuDeviceGetP2PAttribute(&attribute, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1), CUDA_SUCCESS);
  CHECK_EQUAL(attribute, 0);
  CHECK_EQUAL(cuDeviceGetP2PAttribute(&attribute, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
              CUDA_ERROR_INVALID_DEVICE);
  CHECK_EQUAL(cuCtxDisablePeerAccess(contexts[1]), CUDA_SUCCESS);
  CHECK_EQUAL(mix(), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

constexpr int kLaunches = 10000;

void launcher() {
  enter_primary();
  for (int i = 0; i < kLaunches; ++i) CHECK_EQUAL(launch(kernel("gvb_empty"), nullptr, nullptr), CUDA_SUCCESS);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
}

// 8 processes with 10 000 launches each: none is lost, none waits forever. Their cost is measured in bench/.
void many_launches() {
  std::vector<int> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start_part("launcher", (std::string(kFast) + ",launch_ns=0").c_str(), own_region()));
  for (const int child : children) CHECK_EQUAL(wait_for_end(child), 0);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  std::printf("       80000 launches of 8 processes: %.2f s of processor time\n",
              seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

}  // namespace test

// Checkpoints: the state machine, its codes, the memory that moves, and what a killed process leaves.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim_parts.h"

namespace test {
namespace {

constexpr size_t kBlocks = 4, kBlockBytes = 16 * kMiB, kHeldMiB = kBlocks * kBlockBytes / kMiB;
constexpr int kToTarget = 200, kFromTarget = 201;
constexpr int64_t kMs = 1'000'000;

enum Ask : char { kVerify = 'v', kWork = 'w', kManaged = 'm', kShare = 's', kEnd = 'q', kReady = 'r' };
enum Answer : char { kYes = 'y', kNo = 'n' };

// The folder of the targets' records, where the simulation notes which of them are restored.
class Records {
 public:
  Records() {
    if (mkdtemp(path_) == nullptr) std::abort();
  }
  ~Records() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  std::string settings() const { return std::string(",recorded=cuCheckpointProcessRestore,record=") + path_; }
  std::string mark_of(int pid) const { return std::string(path_) + "/restored-" + std::to_string(pid); }

 private:
  char path_[32] = "/tmp/gvb-checkpoint-XXXXXX";
};

const Records& records() {
  static const Records folder;
  return folder;
}

// Another process, which does what it is asked by one letter each.
class TargetProcess {
 public:
  explicit TargetProcess(const std::string& settings) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) std::abort();
    dup2(to[0], kToTarget);
    dup2(from[1], kFromTarget);
    pid = start_part("checkpointTarget", settings + records().settings(), own_region());
    for (const int end : {to[0], from[1], kToTarget, kFromTarget}) close(end);
    to_ = to[1];
    from_ = from[0];
    CHECK_EQUAL(ask(kReady), kYes);
  }
  ~TargetProcess() {
    if (pid == 0) return;
    kill(pid, SIGKILL);
    wait();
  }
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  void tell(Ask what) const { CHECK_EQUAL(write(to_, &what, 1), 1); }
  bool has_answered(int within_ms) const {
    pollfd at = {from_, POLLIN, 0};
    return ::poll(&at, 1, within_ms) == 1;
  }
  char answer() const {
    char read_letter = 0;
    return read(from_, &read_letter, 1) == 1 ? read_letter : '\0';
  }
  char ask(Ask what) const {
    tell(what);
    return answer();
  }
  int wait() {
    int status = 0;
    waitpid(pid, &status, 0);
    pid = 0;
    return status;
  }

  int pid;

 private:
  int to_, from_;
};

CUresult lock(int pid, unsigned timeout_ms = 0) {
  CUcheckpointLockArgs arguments{};
  arguments.timeoutMs = timeout_ms;
  return cuCheckpointProcessLock(pid, &arguments);
}

CUresult checkpoint(int pid) {
  CUcheckpointCheckpointArgs arguments{};
  return cuCheckpointProcessCheckpoint(pid, &arguments);
}

CUresult restore(int pid) {
  CUcheckpointRestoreArgs arguments{};
  return cuCheckpointProcessRestore(pid, &arguments);
}

CUresult unlock(int pid) {
  CUcheckpointUnlockArgs arguments{};
  return cuCheckpointProcessUnlock(pid, &arguments);
}

int state_of(int pid) {
  CUprocessState state{};
  return cuCheckpointProcessGetState(pid, &state) == CUDA_SUCCESS ? static_cast<int>(state) : -1;
}

nvmlDevice_t nvml_card() {
  nvmlDevice_t device = nullptr;
  CHECK_EQUAL(nvmlInit_v2(), NVML_SUCCESS);
  CHECK_EQUAL(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
  return device;
}

size_t used_mib() {
  nvmlMemory_v2_t memory{};
  memory.version = nvmlMemory_v2;
  CHECK_EQUAL(nvmlDeviceGetMemoryInfo_v2(nvml_card(), &memory), NVML_SUCCESS);
  return memory.used / kMiB;
}

bool is_listed(int pid) {
  nvmlProcessInfo_t infos[16];
  unsigned count = 16;
  CHECK_EQUAL(nvmlDeviceGetComputeRunningProcesses_v3(nvml_card(), &count, infos), NVML_SUCCESS);
  for (unsigned i = 0; i < count; ++i)
    if (static_cast<int>(infos[i].pid) == pid) return true;
  return false;
}

// Of the process, in MiB, as the kernel counts it.
size_t resident_mib(int pid) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/statm").c_str(), "r");
  unsigned long all = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &resident) != 2) return 0;
  std::fclose(file);
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / kMiB;
}

int64_t took(const std::function<CUresult()>& call, CUresult expected) {
  const int64_t before = gvb::now_ns();
  CHECK_EQUAL(call(), expected);
  return gvb::now_ns() - before;
}

bool is_marked(int pid) { return access(records().mark_of(pid).c_str(), F_OK) == 0; }

uint32_t word_of(size_t block) { return 0x9e3779b9u * static_cast<uint32_t>(block + 1); }

bool holds(CUdeviceptr address, size_t block) {
  static std::vector<uint32_t> words(kBlockBytes / sizeof(uint32_t));
  if (cuMemcpyDtoH_v2(words.data(), address, kBlockBytes) != CUDA_SUCCESS) return false;
  for (const uint32_t word : words)
    if (word != word_of(block)) return false;
  return true;
}

void occupy_for(uint64_t nanoseconds) {
  static CUdeviceptr stamps = 0;
  if (stamps == 0) CHECK_EQUAL(cuMemAlloc_v2(&stamps, 16), CUDA_SUCCESS);
  CUdeviceptr none = 0;
  void* arguments[] = {&stamps, &nanoseconds, &none};
  CHECK_EQUAL(launch(kernel("gvb_occupy"), nullptr, arguments), CUDA_SUCCESS);
}

// A controller in a process of its own.
int start_lock(int target, const char* settings) {
  setenv("GVB_CHECKPOINT_TARGET", std::to_string(target).c_str(), 1);
  return start_part("lockForEver", settings, own_region());
}

// A controller that is inside its call, which shows by a second one that is refused.
int start_endless_lock(int target, const char* settings) {
  int controllers[] = {start_lock(target, settings), start_lock(target, settings)};
  int status = 0;
  const int refused = waitpid(0, &status, 0);
  CHECK(refused == controllers[0] || refused == controllers[1]);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return controllers[refused == controllers[0] ? 1 : 0];
}

bool share(CUdeviceptr address) {
  CUipcMemHandle handle{};
  return cuIpcGetMemHandle(&handle, address) == CUDA_SUCCESS;
}

}  // namespace

void checkpoint_target() {
  std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would handle it
  enter_primary();
  CUdeviceptr blocks[kBlocks] = {}, managed = 0;
  for (size_t i = 0; i < kBlocks; ++i) {
    CHECK_EQUAL(cuMemAlloc_v2(&blocks[i], kBlockBytes), CUDA_SUCCESS);
    CHECK_EQUAL(cuMemsetD32_v2(blocks[i], word_of(i), kBlockBytes / sizeof(uint32_t)), CUDA_SUCCESS);
  }
  for (char asked = 0; read(kToTarget, &asked, 1) == 1;) {
    bool yes = true;
    if (asked == kVerify)
      for (size_t i = 0; i < kBlocks; ++i) yes = yes && holds(blocks[i], i);
    if (asked == kWork) occupy_for(300 * kMs);
    if (asked == kManaged) yes = cuMemAllocManaged(&managed, kMiB, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS;
    if (asked == kShare) yes = share(blocks[0]);
    const char answer = yes ? kYes : kNo;
    if (write(kFromTarget, &answer, 1) != 1 || asked == kEnd) return;
  }
}

void checkpoint_states() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpoints);
  const int pid = target.pid;
  CHECK_EQUAL(lock(1), CUDA_ERROR_NOT_INITIALIZED);
  CHECK_EQUAL(lock(INT_MAX), CUDA_ERROR_OPERATING_SYSTEM);
  CHECK_EQUAL(lock(getpid()), CUDA_ERROR_INVALID_VALUE);  // it has no context
  CHECK_EQUAL(state_of(getpid()), CU_PROCESS_STATE_RUNNING);
  CHECK_EQUAL(state_of(pid), CU_PROCESS_STATE_RUNNING);
  int thread = 0;
  CHECK_EQUAL(cuCheckpointProcessGetRestoreThreadId(pid, &thread), CUDA_SUCCESS);
  CHECK_EQUAL(access(("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread)).c_str(), F_OK), 0);
  for (const auto& wrong : {checkpoint, restore, unlock}) CHECK_EQUAL(wrong(pid), CUDA_ERROR_ILLEGAL_STATE);

  CHECK_EQUAL(target.ask(kVerify), kYes);
  CHECK_EQUAL(lock(pid), CUDA_SUCCESS);
  CHECK_EQUAL(state_of(pid), CU_PROCESS_STATE_LOCKED);
  CHECK_EQUAL(lock(pid), CUDA_ERROR_ILLEGAL_STATE);
  CHECK_EQUAL(restore(pid), CUDA_ERROR_ILLEGAL_STATE);
  CHECK(is_listed(pid));
  const size_t used = used_mib(), resident = resident_mib(pid);
  target.tell(kVerify);
  CHECK(!target.has_answered(100));

  CHECK_EQUAL(checkpoint(pid), CUDA_SUCCESS);
  CHECK_EQUAL(state_of(pid), CU_PROCESS_STATE_CHECKPOINTED);
  for (const auto& wrong : {checkpoint, unlock}) CHECK_EQUAL(wrong(pid), CUDA_ERROR_ILLEGAL_STATE);
  CHECK(!is_listed(pid));
  CHECK_EQUAL(used - used_mib(), kHeldMiB + 500);  // with its context
  CHECK(resident_mib(pid) >= resident + kHeldMiB - 1);
  CHECK(!target.has_answered(100));
  CHECK(!is_marked(pid));

  CHECK_EQUAL(restore(pid), CUDA_SUCCESS);
  CHECK_EQUAL(state_of(pid), CU_PROCESS_STATE_LOCKED);
  CHECK(is_listed(pid));
  CHECK_EQUAL(used_mib(), used);
  CHECK(resident_mib(pid) < resident + kHeldMiB / 2);
  CHECK(is_marked(pid));
  CHECK(!target.has_answered(100));
  CHECK_EQUAL(unlock(pid), CUDA_SUCCESS);
  CHECK_EQUAL(state_of(pid), CU_PROCESS_STATE_RUNNING);
  CHECK_EQUAL(target.answer(), kYes);
  CHECK_EQUAL(target.ask(kEnd), kYes);
  CHECK_EQUAL(target.wait(), 0);
  CHECK(!is_marked(pid));  // it ended by itself
  CHECK_EQUAL(state_of(pid), -1);
}

void checkpoint_times() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpointTimes);
  const int pid = target.pid;
  for (int round = 0; round < 2; ++round) {
    CHECK(took([&] { return lock(pid); }, CUDA_SUCCESS) >= 10 * kMs);
    CHECK(took([&] { return checkpoint(pid); }, CUDA_SUCCESS) >= (20 + 2 * int64_t{kHeldMiB}) * kMs);
    CHECK(took([&] { return restore(pid); }, CUDA_SUCCESS) >= (30 + int64_t{kHeldMiB}) * kMs);
    CHECK(took([&] { return unlock(pid); }, CUDA_SUCCESS) >= 40 * kMs);
    CHECK_EQUAL(target.ask(kVerify), kYes);
  }
}

// The lock waits for what was submitted, until its time is over.
void checkpoint_work() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpoints);
  const int64_t submitted = gvb::now_ns();
  CHECK_EQUAL(target.ask(kWork), kYes);
  CHECK_EQUAL(lock(target.pid, 20), CUDA_ERROR_NOT_READY);
  CHECK_EQUAL(state_of(target.pid), CU_PROCESS_STATE_RUNNING);
  CHECK_EQUAL(target.ask(kReady), kYes);
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK(gvb::now_ns() - submitted >= 300 * kMs);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(target.ask(kVerify), kYes);
}

void checkpoint_without_room() {
  CUcontext own = enter_primary();
  CHECK(own != nullptr);
  const size_t before = used_mib();
  TargetProcess target(kSmallCard);
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(used_mib(), before);
  size_t free = 0, total = 0;
  CHECK_EQUAL(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CUdeviceptr all = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&all, free), CUDA_SUCCESS);
  CHECK_EQUAL(restore(target.pid), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(state_of(target.pid), CU_PROCESS_STATE_FAILED);
  CHECK_EQUAL(cuMemFree_v2(all), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) CHECK_EQUAL(restore(target.pid), CUDA_ERROR_OPERATING_SYSTEM);
  for (const auto& refused : {checkpoint, unlock}) CHECK_EQUAL(refused(target.pid), CUDA_ERROR_ILLEGAL_STATE);
  CHECK_EQUAL(lock(target.pid), CUDA_ERROR_ILLEGAL_STATE);
}

// A process that is killed while checkpointed leaves nothing; one that is killed while restored leaves its mark.
void checkpoint_killed() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const size_t before = used_mib();
  int killed = 0;
  {
    const TargetProcess target(kCheckpoints);
    killed = target.pid;
    CHECK_EQUAL(lock(killed), CUDA_SUCCESS);
    CHECK_EQUAL(checkpoint(killed), CUDA_SUCCESS);
  }
  CHECK(!is_marked(killed));
  CHECK_EQUAL(used_mib(), before);
  {
    const TargetProcess target(kCheckpoints);
    killed = target.pid;
    CHECK_EQUAL(lock(killed), CUDA_SUCCESS);
    CHECK_EQUAL(checkpoint(killed), CUDA_SUCCESS);
    CHECK_EQUAL(restore(killed), CUDA_SUCCESS);
    CHECK_EQUAL(unlock(killed), CUDA_SUCCESS);
    CHECK(is_marked(killed));
    CHECK_EQUAL(lock(killed), CUDA_SUCCESS);
    CHECK(is_marked(killed));
    CHECK_EQUAL(checkpoint(killed), CUDA_SUCCESS);
    CHECK(!is_marked(killed));
    CHECK_EQUAL(restore(killed), CUDA_SUCCESS);
  }
  CHECK(is_marked(killed));
  CHECK_EQUAL(used_mib(), before);
}

void checkpoint_refused() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  for (const Ask ask : {kManaged, kShare}) {
    const TargetProcess target(kCheckpoints);
    CHECK_EQUAL(target.ask(ask), kYes);
    CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
    CHECK_EQUAL(checkpoint(target.pid), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(state_of(target.pid), CU_PROCESS_STATE_LOCKED);
    CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
    CHECK_EQUAL(target.ask(kVerify), kYes);
  }
}

void checkpoint_mps() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const TargetProcess target(kCheckpointMps);
  CHECK_EQUAL(lock(target.pid), CUDA_ERROR_NOT_SUPPORTED);
  CHECK_EQUAL(state_of(target.pid), CU_PROCESS_STATE_RUNNING);
}

void checkpoint_mig() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const TargetProcess target(kCheckpointMig);
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(target.pid), CUDA_ERROR_OUT_OF_MEMORY);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
}

void checkpoint_kills() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpointKills);
  CHECK_EQUAL(lock(target.pid), CUDA_ERROR_UNKNOWN);
  const int status = target.wait();
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(WTERMSIG(status), SIGSEGV);
}

// The copies last as long as the bus takes for them, and longer beside a neighbour's kernels.
void checkpoint_bus() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const TargetProcess target(kCheckpointBus);
  constexpr auto kBusNs = static_cast<int64_t>(static_cast<double>(kBlocks * kBlockBytes) / 0.4);
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK(took([&] { return checkpoint(target.pid); }, CUDA_SUCCESS) >= kBusNs);
  CHECK(!is_listed(getpid()));
  enter_primary();
  occupy_for(100 * kMs);
  const int64_t began = gvb::now_ns();
  CHECK(took([&] { return restore(target.pid); }, CUDA_SUCCESS) >= kBusNs);
  CHECK_EQUAL(cuCtxSynchronize(), CUDA_SUCCESS);
  // Both took turns.
  CHECK(gvb::now_ns() - began >= kBusNs + 90 * kMs);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(target.ask(kVerify), kYes);
}

void checkpoint_taken_over() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpoints);
  CHECK_EQUAL(target.ask(kWork), kYes);
  const int controller = start_lock(target.pid, kCheckpoints);
  usleep(100'000);
  kill(controller, SIGKILL);
  int status = 0;
  waitpid(controller, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(restore(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(target.ask(kVerify), kYes);
}

// The controller is a process of its own here, which can be killed. Its target is out of step from then on.
void checkpoint_hangs() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  TargetProcess target(kCheckpointHangs);
  const int controller = start_endless_lock(target.pid, kCheckpointHangs);
  target.tell(kVerify);
  CHECK(!target.has_answered(100));
  int status = 0;
  CHECK_EQUAL(waitpid(controller, &status, WNOHANG), 0);
  CHECK_EQUAL(state_of(target.pid), CU_PROCESS_STATE_RUNNING);
  CHECK_EQUAL(lock(target.pid), CUDA_ERROR_ILLEGAL_STATE);
  kill(controller, SIGKILL);
  waitpid(controller, &status, 0);
  CHECK_EQUAL(lock(target.pid), CUDA_ERROR_ILLEGAL_STATE);
}

void lock_for_ever() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  lock(std::atoi(std::getenv("GVB_CHECKPOINT_TARGET")), 1000);
}

void checkpoint_corrupts() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const TargetProcess target(kCheckpointCorrupts);
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(restore(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(target.ask(kVerify), kNo);
}

void checkpoint_keeps() {
  CHECK_EQUAL(cuInit(0), CUDA_SUCCESS);
  const TargetProcess target(kCheckpointKeeps);
  const size_t used = used_mib();
  CHECK_EQUAL(lock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(used_mib(), used);
  CHECK(is_listed(target.pid));
  CHECK_EQUAL(restore(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(unlock(target.pid), CUDA_SUCCESS);
  CHECK_EQUAL(target.ask(kVerify), kYes);
}

void checkpoint_itself() {
  enter_primary();
  CUdeviceptr block = 0;
  CHECK_EQUAL(cuMemAlloc_v2(&block, kBlockBytes), CUDA_SUCCESS);
  CHECK_EQUAL(cuMemsetD32_v2(block, word_of(0), kBlockBytes / sizeof(uint32_t)), CUDA_SUCCESS);
  const size_t used = used_mib();
  CHECK_EQUAL(lock(getpid()), CUDA_SUCCESS);
  CHECK_EQUAL(checkpoint(getpid()), CUDA_SUCCESS);
  CHECK(used_mib() < used);
  CHECK_EQUAL(restore(getpid()), CUDA_SUCCESS);
  CHECK_EQUAL(unlock(getpid()), CUDA_SUCCESS);
  CHECK(holds(block, 0));
}

}  // namespace test

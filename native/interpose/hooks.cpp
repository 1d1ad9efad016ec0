// One exported entry per driver function, the same for every signature: it saves the argument registers, lets
// gvb_interpose_enter delay the call and choose the target, restores the registers and jumps there, so the driver
// returns straight to the caller.
#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/wait.h"
#include "interpose/fifo_lock.h"
#include "interpose/interposer.h"
#include "interpose/polling.h"
#include "interpose/ticks.h"

#define GVB_TEXT(x) #x
#define GVB_EXPAND(x) GVB_TEXT(x)

#if defined(__x86_64__)
#define GVB_ENTRY(name, index) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
          "  movl $" GVB_EXPAND(index) ", %r11d\n"     \
          "  jmp gvb_interpose_trampoline\n"           \
          ".size " #name ", . - " #name "\n");
__asm__(
    ".text\n"
    "gvb_interpose_trampoline:\n"
    "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n"
    "  subq $8, %rsp\n"  // six pushes on a misaligned entry stack: eight more align it
    "  movl %r11d, %edi\n"
    "  call gvb_interpose_enter\n"
    "  addq $8, %rsp\n"
    "  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
    "  jmp *%rax\n");
#elif defined(__aarch64__)
#define GVB_ENTRY(name, index) \
  __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" \
          "  mov w17, #" GVB_EXPAND(index) "\n"        \
          "  b gvb_interpose_trampoline\n"             \
          ".size " #name ", . - " #name "\n");
__asm__(
    ".text\n"
    "gvb_interpose_trampoline:\n"
    "  stp x0, x1, [sp, #-80]!\n  stp x2, x3, [sp, #16]\n  stp x4, x5, [sp, #32]\n  stp x6, x7, [sp, #48]\n"
    "  str x30, [sp, #64]\n"
    "  mov w0, w17\n"
    "  bl gvb_interpose_enter\n"
    "  mov x16, x0\n"
    "  ldr x30, [sp, #64]\n  ldp x6, x7, [sp, #48]\n  ldp x4, x5, [sp, #32]\n  ldp x2, x3, [sp, #16]\n"
    "  ldp x0, x1, [sp], #80\n"
    "  br x16\n");
#endif

// __COUNTER__ is unused before this, so the n-th function has entry n.
static_assert(__COUNTER__ == 0);
#define GVB_CUDA(name, base, version, parameters) GVB_ENTRY(name, (__COUNTER__ - 1))
#include "driver/cuda_functions.inc"
#undef GVB_CUDA

extern "C" {
#define GVB_CUDA(name, base, version, parameters) void name();
#include "driver/cuda_functions.inc"
#undef GVB_CUDA
}

namespace gvb::interpose {

void* hook_address(size_t function) {
  static void* const addresses[] = {
#define GVB_CUDA(name, base, version, parameters) reinterpret_cast<void*>(name),
#include "driver/cuda_functions.inc"
#undef GVB_CUDA
  };
  return addresses[function];
}

namespace {

Hook hooks[kCudaFunctionCount];
double ticks_per_ns = 1;

// Never destroyed: other threads may still call while the process ends.
FifoLock* lock = nullptr;
record::CallLog* calls_log = nullptr;
// Shorter delays spin: a sleep ends 50 us and more too late.
constexpr int64_t kShortestSleepNs = 1'000'000;

abi::CUresult missing() { return abi::CUDA_ERROR_NOT_SUPPORTED; }

void start_polling_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (settings().poll_percent > 0) start_polling(settings().poll_percent / 100);
  });
}

void set_delay(size_t index, double more_ns) {
  const double ns = static_cast<double>(settings().delay_ns[index]) + more_ns;
  hooks[index].delay_ticks.store(static_cast<uint64_t>(ns * ticks_per_ns), std::memory_order_relaxed);
}

void* target_of(size_t index) {
  start_polling_once();
  if (void* own = replacement(index)) return own;
  void* function = slot(driver(), index);
  return function ? function : reinterpret_cast<void*>(missing);
}

// Returns when the delay was over. Reads the counter once more after the loop: a processor mispredicts the end of a
// long loop and then takes some ns to continue (15 in 1 000 on an H200's host).
inline uint64_t delay(const Hook& hook, uint64_t entered) {
  const uint64_t wanted = hook.delay_ticks.load(std::memory_order_relaxed);
  while (processor_counter() - entered < wanted) {
  }
  return processor_counter();
}

inline void remember(Hook& hook, uint64_t spent) {
  hook.spent_ticks[hook.calls++ % kRemembered] = static_cast<uint32_t>(spent);
}

void hold_lock(record::Call& call) {
  const FifoLock::Hold hold(*lock, settings().stale_ns);
  call.begins = now_ns();
  const int64_t until = call.begins + settings().lock_ns;
  if (settings().lock_ns < kShortestSleepNs)
    spin_until(until);
  else
    sleep_until(until);
}

// The first call of a function, and every call with a lock or a record. Kept out of line, so that other calls pay
// nothing for it.
[[gnu::noinline, gnu::cold]] void* take_long_way(Hook& hook, uint64_t entered) {
  const auto index = static_cast<size_t>(&hook - hooks);
  const bool hooked = settings().hooked[index];
  const bool locked = lock && hooked;
  const bool recorded = calls_log && hooked;
  record::Call call{};
  if (recorded) call.entered = now_ns();
  void*& target = locked || recorded ? hook.on_long_way : hook.target;
  if (!target) target = target_of(index);
  delay(hook, entered);
  if (locked) hold_lock(call);
  remember(hook, processor_counter() - entered);
  if (recorded) {
    call.function = static_cast<uint32_t>(index);
    if (locked) call.ends = now_ns();
    calls_log->add(call);
  }
  return target;
}

// The record also lists the bursts of the polling thread, after the driver's functions.
void start_record() {
  std::vector<const char*> names;
  for (const CudaFunction& function : kCudaFunctions) names.push_back(function.name);
  names.push_back("poll");
  const record::MadeLog made = record::CallLog::make(settings().record, names);
  if (!made.log)
    throw std::invalid_argument("The folder of GVB_INTERPOSE_RECORD, '" + settings().record +
                                "', cannot be written to: " + made.why_not + ".");
  calls_log = made.log;
}

}  // namespace

void prepare_hooks() {
  ticks_per_ns = calibrate_ticks_per_ns();
  for (size_t i = 0; i < kCudaFunctionCount; ++i) set_delay(i, 0);
  if (!settings().record.empty()) start_record();
  if (settings().lock_ns > 0)
    lock = (settings().state.empty() ? FifoLock::of_process() : FifoLock::of_file(settings().state)).release();
}

record::CallLog* call_log() { return calls_log; }

void set_live_blocks(size_t live) {
  static const auto functions = [] {
    std::array<size_t, std::size(kPerLiveFunctions)> indexes;
    std::transform(std::begin(kPerLiveFunctions), std::end(kPerLiveFunctions), indexes.begin(), cuda_function_index);
    return indexes;
  }();
  if (settings().per_live_ns == 0) return;
  for (const size_t function : functions) set_delay(function, settings().per_live_ns * static_cast<double>(live));
}

extern "C" __attribute__((used, visibility("hidden"))) void* gvb_interpose_enter(unsigned index) {
  const uint64_t entered = processor_counter();
  Hook& hook = hooks[index];
  if (!hook.target) return take_long_way(hook, entered);
  remember(hook, delay(hook, entered) - entered);
  return hook.target;
}

// Median time, in ns, that the latest calls of an exported function spent in its hook; negative if there were none. The
// true cost of an injected delay is this value with the delay minus this value without. (A mean would include every
// interrupt that hit a hook; the estimates it is compared with leave those out.)
extern "C" __attribute__((visibility("default"))) double gvbInterposeAchievedNs(const char* function) {
  const size_t index = cuda_function_index(function);
  if (index >= kCudaFunctionCount || hooks[index].calls == 0) return -1;
  std::array<uint32_t, kRemembered> spent;
  const size_t count = std::min<uint64_t>(hooks[index].calls, kRemembered);
  std::copy_n(hooks[index].spent_ticks, count, spent.begin());
  std::nth_element(spent.begin(), spent.begin() + count / 2, spent.begin() + count);
  return spent[count / 2] / ticks_per_ns;
}

extern "C" __attribute__((visibility("default"))) void gvbInterposeReset() {
  for (Hook& hook : hooks) hook.calls = 0;
}

}  // namespace gvb::interpose

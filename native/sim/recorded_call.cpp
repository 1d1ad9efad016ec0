#include "sim/recorded_call.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "sim/settings.h"

namespace gvb::sim {
namespace {

thread_local RecordedCall* current = nullptr;
bool leftOut[static_cast<int>(Function::kCount)] = {};

// When the library is loaded: the first call would else take the time that making the log does.
__attribute__((constructor)) void startEarly() {
  const char* text = std::getenv("GVB_SIM");
  if (text != nullptr && std::strstr(text, "record=") != nullptr) environment();
}

}  // namespace

std::atomic<record::CallLog*> callLog{nullptr};

std::string startRecord(const std::string& folder, const std::vector<Function>& functions) {
  std::string why;
  if (!functions.empty()) std::fill(std::begin(leftOut), std::end(leftOut), true);
  for (const Function function : functions) leftOut[static_cast<int>(function)] = false;
  callLog.store(record::CallLog::make(folder, functionNames(), static_cast<size_t>(Function::kCount), &why));
  return why;
}

void RecordedCall::enter(Function function) {
  if (leftOut[static_cast<int>(function)]) return;
  outer_ = current;
  current = this;
  call_.function = static_cast<uint32_t>(function);
  call_.entered = rawNow();
}

void RecordedCall::leave() {
  current = outer_;
  callLog.load(std::memory_order_relaxed)->add(call_);
}

void RecordedCall::ofBytes(uint64_t bytes) {
  if (current != nullptr) current->call_.bytes = bytes;
}

void RecordedCall::ofKernel(const char* name, int64_t begins, int64_t ends) {
  if (current == nullptr) return;
  record::Call& call = current->call_;
  // Of a graph: from its first node to its last.
  call.begins = call.begins == 0 ? begins : std::min(call.begins, begins);
  call.ends = std::max(call.ends, ends);
  std::strncpy(call.kernel, name, sizeof call.kernel - 1);
}

}  // namespace gvb::sim

#include "sim/recorded_call.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "sim/settings.h"

namespace gvb::sim {
namespace {

thread_local RecordedCall* current_call = nullptr;
constexpr auto kTurn = static_cast<uint32_t>(Function::kCount);
bool left_out[kTurn + 1] = {};

// Creates the log when the library is loaded, so that the first call does not pay for it.
__attribute__((constructor)) void start_early() {
  const char* text = std::getenv("GVB_SIM");
  if (text != nullptr && std::strstr(text, "record=") != nullptr) environment();
}

}  // namespace

std::atomic<record::CallLog*> call_log{nullptr};

std::string start_record(const std::string& folder, const std::vector<Function>& functions) {
  if (!functions.empty()) std::fill(std::begin(left_out), std::end(left_out), true);
  for (const Function function : functions) left_out[static_cast<int>(function)] = false;
  const char* const* names = function_names();
  std::vector<const char*> all(names, names + kTurn);
  all.push_back("turn");
  const record::MadeLog made = record::CallLog::make(folder, all);
  call_log.store(made.log);
  return made.why_not;
}

void record_turn(const RecordedTurn& turn) {
  record::CallLog* log = call_log.load(std::memory_order_relaxed);
  if (log == nullptr || left_out[kTurn]) return;
  record::Call call{};
  call.function = kTurn;
  call.entered = raw_now();
  call.begins = turn.begins;
  call.ends = turn.ends;
  call.bytes = static_cast<uint64_t>(turn.party);
  std::snprintf(call.kernel, sizeof call.kernel, "%d", turn.place);
  log->add(call);
}

void RecordedCall::enter(Function function) {
  if (left_out[static_cast<int>(function)]) return;
  outer_ = current_call;
  current_call = this;
  call_.function = static_cast<uint32_t>(function);
  call_.entered = raw_now();
}

void RecordedCall::leave() {
  current_call = outer_;
  record::Call* entry = call_log.load(std::memory_order_relaxed)->begin(call_);
  if (times_ != nullptr && entry != nullptr) times_->belong_to(entry);
  times_.reset();
  record::CallLog::finish(entry);
}

void RecordedCall::of_bytes(uint64_t bytes) {
  if (current_call != nullptr) current_call->call_.bytes = bytes;
}

void RecordedCall::of_residue(uint64_t bytes) {
  if (current_call != nullptr) current_call->call_.begins = static_cast<int64_t>(bytes);
}

std::shared_ptr<LateTimes> RecordedCall::of_kernel(const std::string& name) {
  if (current_call != nullptr)
    std::strncpy(current_call->call_.kernel, name.c_str(), sizeof current_call->call_.kernel - 1);
  return of_device();
}

std::shared_ptr<LateTimes> RecordedCall::of_device() {
  if (current_call == nullptr) return nullptr;
  if (current_call->times_ == nullptr) current_call->times_ = std::make_shared<LateTimes>();
  return current_call->times_;
}

void LateTimes::add(int64_t begins, int64_t ends, double missed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  begins_ = begins_ == 0 ? begins : std::min(begins_, begins);
  ends_ = std::max(ends_, ends);
  missed_ += missed;
  write();
}

void LateTimes::belong_to(record::Call* call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  call_ = call;
  write();
}

void LateTimes::write() {
  if (call_ == nullptr) return;
  call_->begins = begins_;
  call_->ends = ends_;
  if (missed_ > 0) call_->bytes = static_cast<uint64_t>(std::llround(missed_));
}

}  // namespace gvb::sim

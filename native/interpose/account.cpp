#include "interpose/account.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/shared_file.h"
#include "interpose/interposer.h"

namespace gvb::interpose {

Account::Account(uint64_t limit, const std::string& pool) : limit_(limit) {
  if (pool.empty()) return;
  const SharedFile file = SharedFile::at_path(pool);
  void* shared = file.opened() ? file.map(sizeof *used_) : nullptr;
  if (!shared)
    throw std::invalid_argument("Expected pool in GVB_INTERPOSE to be a file that can be shared but received '" + pool +
                                "': " + std::strerror(errno) + ".");
  used_ = static_cast<std::atomic<uint64_t>*>(shared);  // a new file is all zero
}

bool Account::take(uint64_t bytes) {
  uint64_t before = used_->load();
  do
    if (limit_ > 0 && (before > limit_ || bytes > limit_ - before)) return false;
  while (!used_->compare_exchange_weak(before, before + bytes));
  own_ += bytes;
  return true;
}

void Account::give(uint64_t bytes) {
  *used_ -= bytes;
  own_ -= bytes;
}

uint64_t Account::forget(uint64_t block) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return 0;
  const uint64_t bytes = found->second;
  blocks_.erase(found);
  give(bytes - std::min(bytes, settings().forgotten_bytes));
  return bytes;
}

void Account::take_context(uint64_t bytes) {
  if (context_) return;
  context_ = true;
  *used_ += bytes;
  own_ += bytes;
}

void Account::leave() { *used_ -= own_.exchange(0); }

namespace {

std::atomic<Account*> made{nullptr};

__attribute__((destructor)) void leave() {
  if (Account* account = made.load()) account->leave();
}

}  // namespace

Account& account() {
  static Account& instance = [&]() -> Account& {
    auto* const account = new Account(settings().memory_limit, settings().pool);
    made = account;
    return *account;
  }();
  return instance;
}

}  // namespace gvb::interpose

#include "sim/checkpoint_target.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread.h"
#include "sim/card/region.h"
#include "sim/clock.h"
#include "sim/driver.h"
#include "sim/memory/address_space.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

// A stretch of device memory with content, and the host memory that holds it meanwhile.
struct HostCopy {
  uint64_t address;
  size_t bytes;
  void* host;
};

// Tells a test which processes are live and restored, by a file each in the folder of the record: one that is left over
// belongs to a process that was killed in that state, which hangs the host of a real card.
class RestoredMark {
 public:
  void set() {
    if (environment().record.empty()) return;
    path_ = environment().record + "/restored-" + std::to_string(getpid());
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) close(file);
  }
  void clear() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
  }

 private:
  std::string path_;
};

bool is_on_card(const Block& block) { return !is_of_host(block.kind) && block.kind != BlockKind::kImported; }

// The stretches of a block that were written; all others read as zero.
std::vector<HostCopy> written_in(const Block& block) {
  std::vector<HostCopy> found;
  const auto backing = backing_file(block.device, block.address);
  if (!backing) return found;  // memory by cuMemCreate stays in its file
  const auto begin = static_cast<off_t>(backing->offset), end = begin + static_cast<off_t>(block.bytes);
  for (off_t at = begin; at < end;) {
    const off_t data = lseek(backing->file, at, SEEK_DATA);
    if (data < 0 || data >= end) break;
    const off_t hole = std::min(end, lseek(backing->file, data, SEEK_HOLE));
    found.push_back({block.address + static_cast<uint64_t>(data - begin), static_cast<size_t>(hole - data), nullptr});
    at = hole;
  }
  return found;
}

// Loads the bus of a card like a copy of that many bytes, as far as its neighbours see.
void load_bus(int place, CheckpointStep step, double bytes) {
  Card& card = region().card(place);
  const int client = card.open_client(false, 1);
  if (client < 0) return;
  const bool out = step == CheckpointStep::kCheckpoint;
  const double most = out ? gbs_from_card(card_settings(place)) : gbs_to_card(card_settings(place));
  const double gbs = std::min(most, settings().checkpoint_gbs);
  Item item;
  item.not_before = raw_now();
  item.alone_ns = bytes / gbs;
  item.demand = demand_of(out ? kCopyOut : kCopyIn, gbs / most);
  const Item* const only = &item;
  const int lane = card.open_lane(client);
  if (lane >= 0) {
    card.wait_for({card.submit(lane, &only, 1)});
    // A card with one context computes the end ahead.
    wait_until(item.not_before + static_cast<int64_t>(item.alone_ns));
  }
  card.close_client(client);
}

void load_buses(CheckpointStep step, const std::vector<Block>& blocks) {
  if (settings().checkpoint_gbs <= 0) return;
  std::map<int, double> bytes;
  for (const Block& block : blocks)
    if (is_on_card(block)) bytes[block.device] += static_cast<double>(block.bytes);
  for (const auto& [place, of_it] : bytes) load_bus(place, step, of_it);
}

class Target {
 public:
  abi::CUresult checkpoint() {
    const std::vector<Block> blocks = all_blocks();
    if (std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
          return block.shared || block.kind == BlockKind::kImported || block.kind == BlockKind::kManaged;
        }))
      return abi::CUDA_ERROR_NOT_SUPPORTED;
    for (const Block& block : blocks)
      if (is_on_card(block) && !copy_out(block)) {
        drop();
        return abi::CUDA_ERROR_OUT_OF_MEMORY;
      }
    load_buses(CheckpointStep::kCheckpoint, blocks);
    if (settings().checkpoint_keeps == 0) region().leave_cards();
    mark_.clear();
    return abi::CUDA_SUCCESS;
  }

  abi::CUresult restore() {
    if (!region().return_to_cards()) return abi::CUDA_ERROR_OUT_OF_MEMORY;
    const std::vector<Block> blocks = all_blocks();
    load_buses(CheckpointStep::kRestore, blocks);
    // What is copied back replaces results, which would otherwise be computed anew when they are read.
    for (const Block& block : blocks)
      if (is_on_card(block)) settle(block, true);
    for (const HostCopy& copy : copies_) std::memcpy(reinterpret_cast<void*>(copy.address), copy.host, copy.bytes);
    if (settings().checkpoint_corrupts != 0) corrupt();
    drop();
    mark_.set();
    return abi::CUDA_SUCCESS;
  }

  void leave() { mark_.clear(); }

 private:
  static void settle(const Block& block, bool overwritten) {
    const auto queue = queue_of_context(block.context);
    if (!queue) return;
    queue->collect();
    queue->settle(range_of(block.address, block.bytes), overwritten);
  }

  bool copy_out(const Block& block) {
    settle(block, false);
    for (HostCopy copy : written_in(block)) {
      copy.host = mmap(nullptr, copy.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (copy.host == MAP_FAILED) return false;
      std::memcpy(copy.host, reinterpret_cast<const void*>(copy.address), copy.bytes);
      copies_.push_back(copy);
    }
    return true;
  }

  void drop() {
    for (const HostCopy& copy : copies_) munmap(copy.host, copy.bytes);
    copies_.clear();
  }

  // Changes a byte of the largest stretch.
  void corrupt() const {
    const auto largest = std::max_element(copies_.begin(), copies_.end(),
                                          [](const HostCopy& a, const HostCopy& b) { return a.bytes < b.bytes; });
    if (largest != copies_.end()) *reinterpret_cast<unsigned char*>(largest->address + largest->bytes / 2) ^= 1;
  }

  std::vector<HostCopy> copies_;
  RestoredMark mark_;
};

// Never destroyed: its thread outlives main().
Target& target() {
  static Target& instance = *new Target;
  return instance;
}

[[noreturn]] void serve() {
  constexpr int64_t kLookAgain = 60'000'000'000;
  prctl(PR_SET_NAME, "gvb-checkpoint");
  Checkpointing& own = region().own_checkpointing();
  own.thread.store(static_cast<int>(syscall(SYS_gettid)));
  for (uint32_t answered = 0;;) {
    // A process that ends gives its place back: what is asked there is then not for this one.
    for (uint32_t asked; (asked = own.asked.load()) <= answered || driver_unready() != 0;)
      wait_on(own.asked, asked, kLookAgain);
    // Orders what happens here after the calls before and before those that follow. The controller does so too, but a
    // sanitizer does not see another process.
    own.inside.fetch_add(0);
    own.code = own.step == CheckpointStep::kCheckpoint ? target().checkpoint() : target().restore();
    // Here and not by the controller, which may be gone by now.
    if (own.code == abi::CUDA_SUCCESS)
      own.state.store(own.step == CheckpointStep::kCheckpoint ? abi::CU_PROCESS_STATE_CHECKPOINTED
                                                              : abi::CU_PROCESS_STATE_LOCKED);
    else if (own.step == CheckpointStep::kRestore)
      own.state.store(abi::CU_PROCESS_STATE_FAILED);
    own.inside.fetch_add(0);
    own.answered.store(++answered);
    wake_all(own.answered);
  }
}

}  // namespace

void become_checkpoint_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!start_thread(Processors::kProcesses, serve)) return;
    while (region().own_checkpointing().thread.load() == 0) sleep_for(10'000);
  });
}

void leave_as_checkpoint_target() { target().leave(); }

}  // namespace gvb::sim

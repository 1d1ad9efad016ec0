// Each caller takes a place and holds that place's mutex until it leaves the lock; it owns the lock once it has the
// mutex of the place before its own. The mutexes are robust: the kernel releases those of a thread that died, whether
// it owned the lock, waited, or was still entering.
#include "interpose/fifo_lock.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/clock.h"
#include "base/robust_mutex.h"
#include "base/shared_file.h"
#include "base/wait.h"

namespace gvb::interpose {

namespace {

constexpr uint64_t kMagic = 0x6776622d6669666f;  // "gvb-fifo"

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::invalid_argument("Expected state in GVB_INTERPOSE to be a file that can be shared but received '" + path +
                              "': " + why + ".");
}

}  // namespace

void FifoLock::initialise(State* state) {
  make_robust(&state->entrance);
  for (pthread_mutex_t& place : state->places) make_robust(&place);
  state->next = kPlaces;  // so that there is a place before the first one
  state->magic = kMagic;
}

std::unique_ptr<FifoLock> FifoLock::of_process() {
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  initialise(static_cast<State*>(memory));
  return std::unique_ptr<FifoLock>(new FifoLock(static_cast<State*>(memory)));
}

std::unique_ptr<FifoLock> FifoLock::of_file(const std::string& path) {
  const SharedFile file = SharedFile::at_path(path);
  if (!file.opened()) refuse(path, std::strerror(errno));
  if (file.size() != 0 && file.size() != sizeof(State)) refuse(path, "it holds something else");
  auto* state = static_cast<State*>(file.map(sizeof(State)));
  if (!state) refuse(path, std::strerror(errno));
  // An initialiser that died leaves the magic at 0: initialise again.
  if (state->magic == 0) initialise(state);
  if (state->magic != kMagic) refuse(path, "it holds something else");
  return std::unique_ptr<FifoLock>(new FifoLock(state));
}

uint64_t FifoLock::enter(int64_t stale_ns) {
  lock_robust(&state_->entrance);
  const uint64_t place = state_->next;
  // A thread that dies between these two lines leaves a place that the next one takes over.
  lock_robust(at(place));
  state_->next = place + 1;
  pthread_mutex_unlock(&state_->entrance);
  // It is unknown whether a dead predecessor owned the lock, so this also waits for the one before it. It keeps all
  // these mutexes until it owns the lock: if it dies before, the next one must follow the same chain.
  uint64_t first = place;
  bool died = false;
  while (lock_robust(at(--first)) && first + kPlaces > place + 1) died = true;
  // It still holds all of them: if it dies meanwhile, the next one finds that too.
  if (died && stale_ns > 0) sleep_until(now_ns() + stale_ns);
  for (; first != place; ++first) pthread_mutex_unlock(at(first));
  return place;
}

void FifoLock::leave(uint64_t place) { pthread_mutex_unlock(at(place)); }

}  // namespace gvb::interpose

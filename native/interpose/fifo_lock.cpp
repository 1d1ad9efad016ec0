// Everyone takes a place and holds that place's mutex until he leaves the lock; he is in when he got the mutex of the
// place before his. The mutexes are robust: the kernel releases those of a thread that died, whether it was in, waited,
// or came only half-way.
#include "interpose/fifo_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gvb::interpose {

namespace {

constexpr uint64_t kMagic = 0x6776622d6669666f;  // "gvb-fifo"

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::invalid_argument("Expected state in GVB_INTERPOSE to be a file that can be shared but received '" + path +
                              "': " + why + ".");
}

class File {
 public:
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (descriptor_ < 0) refuse(path, std::strerror(errno));
    // Those who come at the same time wait until one has made the state.
    while (flock(descriptor_, LOCK_EX) != 0)
      if (errno != EINTR) {
        const std::string why = std::strerror(errno);
        close(descriptor_);
        refuse(path, why);
      }
  }
  ~File() {
    flock(descriptor_, LOCK_UN);  // closing does not: the mapping keeps the open file
    close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

// Whether the one who had it before died with it.
bool acquire(pthread_mutex_t* mutex) {
  if (pthread_mutex_lock(mutex) != EOWNERDEAD) return false;
  pthread_mutex_consistent(mutex);
  return true;
}

}  // namespace

void FifoLock::initialise(State* state) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&state->entrance, &attributes);
  for (pthread_mutex_t& place : state->places) pthread_mutex_init(&place, &attributes);
  pthread_mutexattr_destroy(&attributes);
  state->next = kPlaces;  // so that there is a place before the first
  state->magic = kMagic;
}

std::unique_ptr<FifoLock> FifoLock::of_process() {
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  initialise(static_cast<State*>(memory));
  return std::unique_ptr<FifoLock>(new FifoLock(static_cast<State*>(memory)));
}

std::unique_ptr<FifoLock> FifoLock::of_file(const std::string& path) {
  const File file(path);
  return map(file.descriptor(), path);
}

std::unique_ptr<FifoLock> FifoLock::map(int file, const std::string& path) {
  const off_t size = lseek(file, 0, SEEK_END);
  if (size != 0 && size != sizeof(State)) refuse(path, "it holds something else");
  if (ftruncate(file, sizeof(State)) != 0) refuse(path, std::strerror(errno));
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse(path, std::strerror(errno));
  State* state = static_cast<State*>(memory);
  // Whoever began to make it may have died before the end.
  if (state->magic == 0) initialise(state);
  if (state->magic != kMagic) refuse(path, "it holds something else");
  return std::unique_ptr<FifoLock>(new FifoLock(state));
}

uint64_t FifoLock::enter() {
  acquire(&state_->entrance);
  const uint64_t place = state_->next;
  // Whoever dies between these two lines leaves a place that the next one takes over.
  acquire(at(place));
  state_->next = place + 1;
  pthread_mutex_unlock(&state_->entrance);
  // Of one who died it is not known whether he was in, so the one before him is waited for too. All are kept until this
  // one is in: if it dies now, the next one must go the same way.
  uint64_t first = place;
  while (acquire(at(--first)) && first + kPlaces > place + 1) {
  }
  for (; first != place; ++first) pthread_mutex_unlock(at(first));
  return place;
}

void FifoLock::leave(uint64_t place) { pthread_mutex_unlock(at(place)); }

}  // namespace gvb::interpose

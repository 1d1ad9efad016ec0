#include "count/count_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "count/slots.h"

namespace gvb::count {

namespace {

enum class State { kNone, kBeginning, kBegun };
std::atomic<State> state{State::kNone};

// The program sees neither an errno of ours nor one of its signals in the middle of our work, from whose handler it
// could call the driver.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &signals_);
  }
  ~Undisturbed() {
    pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    errno = errno_;
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  const int errno_ = errno;
  sigset_t signals_;
};

// Static: the calling thread may have a small stack, and nothing here may allocate. Used by one thread at a time.
char path[4096];

// A program started by exec has the PID of its predecessor.
bool name_file(const char* folder, int number, const char* kind) {
  const int length = std::snprintf(path, sizeof path, "%s/%d-%d.%s", folder, static_cast<int>(getpid()), number, kind);
  if (length >= 0 && static_cast<size_t>(length) < sizeof path) return true;
  errno = ENAMETOOLONG;
  return false;
}

int create(const char* folder) {
  for (int number = 0; name_file(folder, number, "counts"); ++number) {
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// A larger file would be answered by SIGXFSZ.
bool may_be_that_large() {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= sizeof(Table)) return true;
  errno = EFBIG;
  return false;
}

// Storing to a page that the file system has no room for would be answered by SIGBUS.
bool has_room(int file) {
  if (fallocate(file, 0, 0, sizeof(Table)) == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static const char zeros[4096] = {};
  static_assert(sizeof(Table) % sizeof zeros == 0);
  for (size_t done = 0; done < sizeof(Table); done += sizeof zeros)
    if (pwrite(file, zeros, sizeof zeros, static_cast<off_t>(done)) != sizeof zeros) return false;
  return true;
}

Table* new_file(const char* folder) {
  if (!may_be_that_large()) return nullptr;
  const int file = create(folder);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (has_room(file)) memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int why = errno;
  if (memory == MAP_FAILED) unlink(path);
  close(file);
  errno = why;
  return memory == MAP_FAILED ? nullptr : static_cast<Table*>(memory);
}

// The target of the link says why: it needs no room for data. The program's own output is left alone.
void note_uncounted(const char* folder) {
  const char* why = std::strerror(errno);
  for (int number = 0; name_file(folder, number, "uncounted"); ++number)
    if (symlink(why, path) == 0 || errno != EEXIST) return;
}

// Names only; counts stay at zero.
void copy_slots(Table& to) {
  for (size_t i = 0; i < kSlots; ++i)
    if (const char* name = first_table().slots[i].name; name[0] != '\0')
      std::memcpy(to.slots[i].name, name, kLongestName);
}

// Null if counting stays in memory.
Table* new_table() {
  const char* folder = std::getenv("GVB_COUNT_FOLDER");
  if (folder == nullptr) return nullptr;
  Table* made = new_file(folder);
  if (made == nullptr) {
    note_uncounted(folder);
    return nullptr;
  }
  made->header.slots = kSlots;
  made->header.simulated = table().header.simulated;
  std::memcpy(made->header.driver, table().header.driver, sizeof made->header.driver);
  copy_slots(*made);
  std::memcpy(made->header.magic, "gvbcount", sizeof made->header.magic);
  return made;
}

void forget_calls(Table& of) {
  for (Slot& slot : of.slots)
    if (slot.calls.load(std::memory_order_relaxed) > 0) slot.calls.store(0, std::memory_order_relaxed);
}

}  // namespace

void begin_counting() {
  if (state.load(std::memory_order_acquire) == State::kBegun) return;
  const Undisturbed undisturbed;
  State none = State::kNone;
  if (state.compare_exchange_strong(none, State::kBeginning)) {
    if (Table* made = new_table()) use_table(*made);
    state.store(State::kBegun, std::memory_order_release);
  }
  // What another thread calls from now on belongs in the file.
  while (state.load(std::memory_order_acquire) != State::kBegun) sched_yield();
}

void keep_first_call(size_t slot) {
  if (&table() == &first_table()) return;
  if (const uint64_t calls = first_table().slots[slot].calls.exchange(0)) table().slots[slot].calls.fetch_add(calls);
}

void begin_counting_in_child() {
  const State parents = state.load(std::memory_order_acquire);
  if (parents == State::kNone) return;
  const Undisturbed undisturbed;
  forget_calls(first_table());
  if (parents == State::kBeginning) return state.store(State::kNone, std::memory_order_release);
  Table* made = new_table();
  use_table(made ? *made : first_table());
}

}  // namespace gvb::count

#include "count/count_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "count/slots.h"

namespace gvb::count {

namespace {

// Used in a forked child of a threaded program: nothing here may allocate.
constexpr size_t kLongestFile = 4096;

// A program started by exec has the PID of its predecessor.
int create(const char* folder) {
  for (int number = 0;; ++number) {
    char path[kLongestFile];
    const int length = std::snprintf(path, sizeof path, "%s/%d-%d.counts", folder, static_cast<int>(getpid()), number);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path) {
      errno = ENAMETOOLONG;
      return -1;
    }
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

void* map_new_file(const char* folder) {
  const int file = create(folder);
  if (file < 0) return MAP_FAILED;
  void* memory = MAP_FAILED;
  if (ftruncate(file, sizeof(Table)) == 0)
    memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int why = errno;
  close(file);
  errno = why;
  return memory;
}

void copy_slots(Table& to, bool with_calls) {
  for (size_t i = 0; i < kSlots; ++i) {
    const Slot& from = table().slots[i];
    const uint64_t calls = from.calls.load(std::memory_order_relaxed);
    if (with_calls && calls > 0) to.slots[i].calls.store(calls, std::memory_order_relaxed);
    // Skips unused slots, so that their pages stay holes in the file.
    if (from.name[0] != '\0') std::memcpy(to.slots[i].name, from.name, sizeof from.name);
  }
}

// Replaces the old table by the new one in one step: a counter is always mapped.
bool take_place(void* memory) {
  return mremap(memory, sizeof(Table), sizeof(Table), MREMAP_MAYMOVE | MREMAP_FIXED, &table()) != MAP_FAILED;
}

bool move_to_file(const char* folder, bool with_calls) {
  void* memory = map_new_file(folder);
  if (memory == MAP_FAILED) return false;
  auto& made = *static_cast<Table*>(memory);
  made.header.slots = kSlots;
  made.header.simulated = table().header.simulated;
  std::memcpy(made.header.driver, table().header.driver, sizeof made.header.driver);
  copy_slots(made, with_calls);
  std::memcpy(made.header.magic, "gvbcount", sizeof made.header.magic);
  return take_place(memory);
}

void complain(const char* folder) {
  std::fprintf(stderr, "gpu-virt-bench: driver calls of process %d are not counted: no file can be made in '%s': %s.\n",
               static_cast<int>(getpid()), folder, std::strerror(errno));
}

void become_private() {
  void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  copy_slots(*static_cast<Table*>(memory), false);
  take_place(memory);
}

}  // namespace

void begin_file() {
  const char* folder = std::getenv("GVB_COUNT_FOLDER");
  if (folder != nullptr && !move_to_file(folder, true)) complain(folder);
}

void begin_file_of_child() {
  const char* folder = std::getenv("GVB_COUNT_FOLDER");
  if (folder == nullptr || move_to_file(folder, false)) return;
  complain(folder);
  become_private();
}

}  // namespace gvb::count

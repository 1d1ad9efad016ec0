// Preloaded after a layer into every process of a program under test. At the process's start it writes the list of
// mapped files into the folder GVB_WITNESS; at its exit it adds the libraries that are loaded by then, and who owns the
// driver's functions. It exports and hooks nothing, and a record that cannot be written is left out: the program must
// not notice.
//
// - At the exit it makes no system call, because the program may have forbidden itself all but a few (seccomp): it
//   stores into a mapping of its file. A forked child shares that mapping, and adds to the record of its parent.
// - It looks for owners when the main thread calls exit(), before destructors: it calls functions of a layer, whose own
//   destructor comes before ours. A process that ends otherwise is not looked at.
// - At the start it makes only calls that the loader has just made, and write. A file over the program's limit (ulimit
//   -f) would be answered by SIGXFSZ, a page without room on the disk by SIGBUS: zeros are written beforehand.
// - Buffers are static: the program's stack may be small (ulimit -s).
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "witness/loader_list.h"
#include "witness/owners.h"

// libc's own, with which a compiler registers destructors of thread-local objects.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __cxa_thread_atexit_impl(void (*function)(void*), void* argument, void* library);
extern "C" void* __dso_handle;
// NOLINTEND(bugprone-reserved-identifier)

namespace {

// Per PID: one record for each program that the process becomes by exec.
constexpr int kMostRecords = 64;
constexpr size_t kExitBytes = 65536;

char path[4096];
char buffer[16384];

// What is added at the exit, as lines.
struct Exit {
  std::atomic<uint64_t> used;
  char text[kExitBytes - sizeof used];
};
static_assert(sizeof(Exit) == kExitBytes);
Exit* at_exit = nullptr;

class Path {
 public:
  void add(const char* text, size_t length) {
    fits_ = fits_ && length_ + length < sizeof path;
    if (!fits_) return;
    std::memcpy(path + length_, text, length);
    path[length_ += length] = '\0';
  }
  void add(const char* text) { add(text, std::strlen(text)); }
  bool fits() const { return fits_; }

 private:
  size_t length_ = 0;
  bool fits_ = true;
};

// The first field of /proc/self/stat is the PID.
size_t read_pid(char* text, size_t most) {
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, most);
  close(file);
  size_t length = 0;
  while (got > 0 && length < static_cast<size_t>(got) && text[length] >= '0' && text[length] <= '9') ++length;
  return length;
}

int create(const char* folder) {
  char pid[16];
  const size_t length = read_pid(pid, sizeof pid);
  for (int number = 0; length > 0 && number < kMostRecords; ++number) {
    const char digits[] = {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
    Path name;
    name.add(folder);
    name.add("/");
    name.add(pid, length);
    name.add("-");
    name.add(digits, sizeof digits);
    name.add(".maps");
    if (!name.fits()) return -1;
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

class Record {
 public:
  explicit Record(int file) : file_(file) {
    rlimit limit;
    most_ = getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : 0;
  }
  // All of it, or false.
  bool add(const char* from, size_t length) {
    if (length > most_ - length_) return false;
    for (size_t done = 0; done < length;) {
      const ssize_t put = write(file_, from + done, length - done);
      if (put <= 0) return false;
      done += static_cast<size_t>(put);
    }
    length_ += length;
    return true;
  }
  bool add_zeros(size_t length) {
    std::memset(buffer, 0, sizeof buffer);
    while (length > 0) {
      const size_t some = length < sizeof buffer ? length : sizeof buffer;
      if (!add(buffer, some)) return false;
      length -= some;
    }
    return true;
  }
  size_t length() const { return length_; }

 private:
  const int file_;
  size_t most_ = 0;
  size_t length_ = 0;
};

bool copy_maps(Record& record) {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  ssize_t got = 0;
  bool good = true;
  while (good && (got = read(maps, buffer, sizeof buffer)) > 0) good = record.add(buffer, static_cast<size_t>(got));
  close(maps);
  return good && got == 0;
}

bool write_record(int file) {
  Record record(file);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (!copy_maps(record) || !record.add_zeros(page - record.length() % page)) return false;
  const size_t exit_at = record.length();
  if (!record.add_zeros(sizeof(Exit))) return false;
  void* memory = mmap(nullptr, sizeof(Exit), PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(exit_at));
  if (memory != MAP_FAILED) at_exit = static_cast<Exit*>(memory);
  return true;
}

// Each line once, between two ends of lines.
void add_line(const char* text, size_t length) {
  if (length == 0 || length + 2 > sizeof buffer) return;
  buffer[0] = buffer[length + 1] = '\n';
  std::copy_n(text, length, buffer + 1);
  if (memmem(at_exit->text, sizeof at_exit->text, buffer, length + 2) != nullptr) return;
  const uint64_t at = at_exit->used.fetch_add(length + 2);
  if (at + length + 2 > sizeof at_exit->text) return;
  std::memcpy(at_exit->text + at, buffer, length + 2);
}

void look(void*) { gvb::witness::look_at_owners(add_line); }

__attribute__((constructor)) void begin(int, char**, char** environment) {
  const int kept = errno;
  const char* folder = std::getenv("GVB_WITNESS");
  const int file = folder ? create(folder) : -1;
  if (file >= 0) {
    if (!write_record(file)) unlink(path);
    close(file);
  }
  if (at_exit != nullptr) {
    gvb::witness::find_loader_list(environment);
    gvb::witness::note_start();
    __cxa_thread_atexit_impl(look, nullptr, &__dso_handle);
  }
  errno = kept;
}

void add_libraries() {
  using namespace gvb::witness;
  for (const Namespace* space = first_namespace(); space; space = after(*space))
    each_object_of(*space, [](const link_map& map) {
      if (map.l_name[0] == '/') add_line(map.l_name, std::strlen(map.l_name));
      return false;
    });
}

__attribute__((destructor)) void end() {
  if (at_exit != nullptr) gvb::witness::while_unchanged(add_libraries);
}

}  // namespace

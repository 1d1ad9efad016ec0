// Preloaded after a layer into every process of a program under test. It writes the list of mapped files at the
// process's start and exit into the folder GVB_WITNESS, and does nothing else: it exports, hooks and allocates nothing.
// A failed write is ignored: the program must not notice the witness.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kLongestFile = 4096;
// Per PID: one record for each program that the process becomes by exec.
constexpr int kMostRecords = 64;

// Number of the start record, so that a program's two records share a name.
int own_number = 0;
pid_t own_pid = 0;

int create(const char* folder, const char* moment) {
  // A forked child has no start record.
  for (int number = own_pid == getpid() ? own_number : 0; number < kMostRecords; ++number) {
    char path[kLongestFile];
    const int length =
        std::snprintf(path, sizeof path, "%s/%d-%d.%s", folder, static_cast<int>(getpid()), number, moment);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path) return -1;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
      own_number = number;
      own_pid = getpid();
    }
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

struct Copy {
  int from, to;
};

void copy(const Copy& files) {
  char buffer[16384];
  ssize_t got = 0;
  while ((got = read(files.from, buffer, sizeof buffer)) > 0)
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(files.to, buffer + done, static_cast<size_t>(got - done));
      if (put <= 0) return;
      done += put;
    }
}

void record(const char* moment) {
  const int kept = errno;
  const char* folder = std::getenv("GVB_WITNESS");
  const int maps = folder ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
  const int file = maps < 0 ? -1 : create(folder, moment);
  if (file >= 0) copy({maps, file});
  if (file >= 0) close(file);
  if (maps >= 0) close(maps);
  errno = kept;
}

__attribute__((constructor)) void begin() { record("start"); }
__attribute__((destructor)) void end() { record("exit"); }

}  // namespace

#include "driver/driver_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "driver/elf_image.h"

namespace gvb {

namespace {

constexpr char kFound = 'f';
constexpr char kNotFound = 'n';

void write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) _exit(1);
    if (wrote > 0) done += static_cast<size_t>(wrote);
  }
}

[[noreturn]] void load_and_tell(int to_parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // What a layer prints while it is loaded is not part of the program's output.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  const char* reason = handle ? nullptr : dlerror();
  std::string told =
      handle ? kFound + ElfImage::of_handle(handle).path() : kNotFound + std::string(reason ? reason : "");
  told += '\0';  // marks the end: a process that a layer started may keep the pipe open
  write_all(to_parent, told);
  _exit(0);
}

struct Told {
  std::string text;  // with its end mark, unless the process ended or the time ran out
  bool in_time = true;
  bool complete() const { return !text.empty() && text.back() == '\0'; }
};

Told read_told(int from_child, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  Told told;
  while (!told.complete()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      told.in_time = false;
      break;
    }
    pollfd ready{from_child, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 4096> part{};
    const ssize_t got = ::read(from_child, part.data(), part.size());
    if (got == 0) break;
    if (got > 0) told.text.append(part.data(), static_cast<size_t>(got));
  }
  return told;
}

std::string ending(pid_t child, const Told& told) {
  if (!told.complete()) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!told.in_time) return "did not come back in time";
  if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

}  // namespace

DriverProbe probe_driver(std::chrono::milliseconds patience) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const pid_t child = fork();
  if (child == 0) load_and_tell(ends[1]);
  const int fork_error = errno;
  close(ends[1]);
  const Told told = child < 0 ? Told{} : read_told(ends[0], patience);
  close(ends[0]);
  if (child < 0) {
    errno = fork_error;
    fail("fork");
  }
  const std::string ended = ending(child, told);
  if (!told.complete()) return {std::nullopt, "the process that loaded it " + ended, true};
  const std::string rest = told.text.substr(1, told.text.size() - 2);
  if (told.text.front() == kFound) return {rest, "", false};
  return {std::nullopt, rest, false};
}

}  // namespace gvb

#include "keeper/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace gvb::keeper {
namespace {

enum class Step { kPipe, kFolder, kProgram };

struct Failure {
  int error;
  Step step;
};

[[noreturn]] void fail(int report, Step step) {
  const Failure failure{errno, step};
  // A report that cannot be written looks like a successful start; the exit code tells.
  if (write(report, &failure, sizeof failure) < 0) _exit(126);
  _exit(127);
}

const char* name_of(Step step) { return step == Step::kFolder ? "folder" : step == Step::kPipe ? "pipe" : "program"; }

// The pipe ends that the child writes to; -1: it has the keeper's descriptors.
struct Ends {
  int outputs[2];
  int report;
  bool dies_with_keeper;
};

// Away from the terminal.
bool take_outputs(const int (&outputs)[2]) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(outputs[0], 1) < 0 || dup2(outputs[1], 2) < 0) return false;
  close(nothing);
  return true;
}

[[noreturn]] void become(const char* folder, char* const* command, std::vector<std::string>& environment,
                         const Ends& ends, pid_t keeper) {
  const int report = ends.report;
  // The first process dies with the keeper, however that ends, unless that could be while it is restored from a
  // checkpoint; the keeper may have ended before this call.
  if (ends.dies_with_keeper) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(127);
  if (ends.outputs[0] >= 0 && !take_outputs(ends.outputs)) fail(report, Step::kPipe);
  // The keeper ignores it, and a program that is not told to would see errors in place of its end.
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (chdir(folder) != 0) fail(report, Step::kFolder);
  std::vector<char*> variables;
  variables.reserve(environment.size() + 1);
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  // Searches the PATH of the program's own environment.
  environ = variables.data();
  execvp(command[0], command);
  fail(report, Step::kProgram);
}

}  // namespace

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Started start(const char* folder, char* const* command, std::vector<std::string>& environment, Manner manner) {
  Started started;
  int write_ends[2] = {-1, -1};
  int report[2] = {-1, -1};
  for (int i = 0; i < 2 && !manner.is_foreground; ++i) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      started.refused = "pipe";
      started.error = errno;
      return started;
    }
    started.outputs[i] = ends[0];
    write_ends[i] = ends[1];
  }
  if (pipe2(report, O_CLOEXEC) != 0) {
    started.refused = "pipe";
    started.error = errno;
    return started;
  }
  const pid_t self = getpid();
  started.at_ns = now_ns();
  started.pid = fork();
  const Ends ends{{write_ends[0], write_ends[1]}, report[1], !manner.is_guardable};
  if (started.pid == 0) become(folder, command, environment, ends, self);
  if (started.pid < 0) {
    started.refused = "fork";
    started.error = errno;
  }
  close(report[1]);
  for (const int end : write_ends)
    if (end >= 0) close(end);
  Failure failure{};
  // Returns once exec closes the other end, or the child reports a failure.
  if (started.pid > 0 && read(report[0], &failure, sizeof failure) == sizeof failure) {
    started.refused = name_of(failure.step);
    started.error = failure.error;
  }
  close(report[0]);
  for (const int output : started.outputs)
    if (output >= 0) fcntl(output, F_SETFL, O_NONBLOCK);
  return started;
}

}  // namespace gvb::keeper

// Keeps one program of a user: starts it, forwards its output, reports its end, and at the end kills everything it left
// behind. A layer cannot see it: nothing is preloaded into it, and the program's environment arrives by file
// descriptor.
//   gvb-keeper [--foreground | --guardable] FOLDER STRAGGLER_MS GRACE_MS COMMAND ARGUMENT…
// Descriptors: 0 control, 1 and 2 the program's output, 3 reports, one per line (lib/workers/kept-program.ts). In the
// foreground the program has 0, 1 and 2 itself, the terminal and its signals too, and 4 is control. Control: the length
// of the environment (32 bits, little-endian), its strings, each with a terminating zero; then single letters: S asks
// all processes to end (SIGTERM, after GRACE_MS SIGKILL), K kills them all. The end of control kills them too: nothing
// needs the program any more. G gives them to a guardian (lib/checkpoint): from then on the keeper ends none, whatever
// happens, and its program must be guardable, which does not die with the keeper.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "keeper/program.h"
#include "keeper/relay.h"
#include "keeper/tree.h"

namespace gvb::keeper {
namespace {

// Descriptor of control.
constexpr int kBehind = 0;
constexpr int kInForeground = 4;
constexpr int kReports = 3;
constexpr uint32_t kMostEnvironment = 16 << 20;
constexpr long long kNsPerMs = 1'000'000;
// How long to wait after SIGKILL: a process that hangs in the kernel does not end.
constexpr long long kStuckMs = 10'000;
// How long to forward remaining output once all processes have ended; a process elsewhere may keep the pipe open.
constexpr long long kDrainMs = 5'000;
constexpr size_t kMostNamed = 5;

void report(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  // If the reader is gone, the control pipe reports it.
  if (length > 0 && write(kReports, line, std::min<size_t>(static_cast<size_t>(length), sizeof line - 1)) < 0) return;
}

bool read_fully(int control, void* into, size_t bytes) {
  auto* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = read(control, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool read_environment(int control, std::vector<std::string>& environment) {
  uint32_t bytes = 0;
  if (!read_fully(control, &bytes, sizeof bytes) || bytes > kMostEnvironment) return false;
  std::string block(bytes, '\0');
  if (!read_fully(control, block.data(), bytes)) return false;
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\0', at), block.size());
    environment.push_back(block.substr(at, end - at));
    at = end + 1;
  }
  return true;
}

std::string named(const std::vector<Descendant>& left) {
  std::string text;
  for (size_t i = 0; i < std::min(left.size(), kMostNamed); ++i) {
    std::string name = left[i].name;
    for (char& letter : name)
      if (letter < ' ' || letter == ',') letter = '?';
    text += (i > 0 ? "," : "") + std::to_string(left[i].pid) + ":" + name;
  }
  return text;
}

// Negative: no limit.
struct Deadline {
  long long at_ns = -1;
  bool is_set() const { return at_ns >= 0; }
  bool is_over() const { return is_set() && now_ns() >= at_ns; }
  void set_in(long long ms) { at_ns = now_ns() + ms * kNsPerMs; }
  void clear() { at_ns = -1; }
};

// How long to wait for processes the program left behind, and after SIGTERM.
struct Patience {
  long long straggler_ms, grace_ms;
};

class Keeper {
 public:
  // Descriptors.
  struct Inputs {
    int control, signals;
  };

  Keeper(const Started& started, const Inputs& inputs, const Patience& patience)
      : main_(started.pid),
        control_(inputs.control),
        signals_(inputs.signals),
        straggler_ms_(patience.straggler_ms),
        grace_ms_(patience.grace_ms),
        relays_{Relay(started.outputs[0], 1), Relay(started.outputs[1], 2)} {}

  void run() {
    while (!is_over()) {
      wait_for_something();
      for (Relay& relay : relays_) relay.move();
      reap();
      pass_deadlines();
    }
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000LL + time.tv_usec; };
    report("done %lld %lld %ld %lld\n", us(used.ru_utime), us(used.ru_stime), used.ru_maxrss, last_ns_);
  }

 private:
  bool is_over() {
    if (is_stuck_) return true;
    if (has_children_) return false;
    if (!drain_.is_set()) drain_.set_in(kDrainMs);
    if (drain_.is_over()) return true;
    return !relays_[0].open() && !relays_[1].open();
  }

  void wait_for_something() {
    std::vector<pollfd> wanted{{signals_, POLLIN, 0}};
    if (!is_control_closed_) wanted.push_back({control_, POLLIN, 0});
    const size_t first_relay = wanted.size();
    for (const Relay& relay : relays_)
      if (relay.open()) wanted.push_back(relay.wanted());
    if (poll(wanted.data(), wanted.size(), patience_ms()) <= 0) return;
    if (wanted[0].revents != 0) {
      signalfd_siginfo information;
      while (read(signals_, &information, sizeof information) > 0) continue;
    }
    if (first_relay == 2 && wanted[1].revents != 0) obey();
  }

  int patience_ms() const {
    // Kills repeatedly: a process may fork just before it is killed.
    long long most = is_killing_ ? 10 : 60'000;
    for (const Deadline* deadline : {&kill_at_, &straggler_, &stuck_, &drain_})
      if (deadline->is_set()) most = std::min(most, (deadline->at_ns - now_ns()) / kNsPerMs + 1);
    return static_cast<int>(std::max(0LL, most));
  }

  void obey() {
    char letter = 0;
    const ssize_t got = read(control_, &letter, 1);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) is_control_closed_ = true;
    if (got == 1 && letter == 'G') give_to_guardian();
    if (is_guarded_) return;
    if (got == 1 && letter == 'K') return kill_all();
    if (is_killing_ || kill_at_.is_set()) return;
    straggler_.clear();
    signal_all(SIGTERM);
    kill_at_.set_in(grace_ms_);
  }

  // Answers whether nothing here ends a process of it any longer: what is being ended cannot be given away.
  void give_to_guardian() {
    is_guarded_ = !is_killing_ && !kill_at_.is_set();
    report("given %d\n", is_guarded_ ? 1 : 0);
    if (!is_guarded_) return;
    straggler_.clear();
    for (Relay& relay : relays_) relay.outlive_reader();
  }

  void kill_all() {
    if (!is_killing_) stuck_.set_in(kStuckMs);
    is_killing_ = true;
    signal_all(SIGKILL);
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      last_ns_ = now_ns();
      if (pid == main_) main_ended(status);
    }
    has_children_ = pid == 0 || errno != ECHILD;
  }

  void main_ended(int status) {
    const bool exited = WIFEXITED(status);
    report("ended %d %d %lld\n", exited ? WEXITSTATUS(status) : -1, exited ? 0 : WTERMSIG(status), last_ns_);
    main_ = 0;
    if (!kill_at_.is_set() && !is_killing_) straggler_.set_in(straggler_ms_);
  }

  void pass_deadlines() {
    if (!has_children_) return;
    if (straggler_.is_over()) {
      straggler_.clear();
      const std::vector<Descendant> left = descendants();
      if (!left.empty()) {
        report("left %zu %s\n", left.size(), named(left).c_str());
        if (is_guarded_) return;
        signal_all(SIGTERM);
        kill_at_.set_in(grace_ms_);
      }
    }
    if (stuck_.is_over()) {
      report("stuck %s\n", named(descendants()).c_str());
      is_stuck_ = true;
    }
    if (is_killing_ || kill_at_.is_over()) kill_all();
  }

  pid_t main_;
  long long last_ns_ = 0;  // when the last process so far was seen to have ended
  int control_;
  int signals_;
  long long straggler_ms_;
  long long grace_ms_;
  Relay relays_[2];
  bool is_control_closed_ = false;
  bool is_guarded_ = false;
  bool is_killing_ = false;
  bool is_stuck_ = false;
  bool has_children_ = true;
  Deadline kill_at_;
  Deadline straggler_;
  Deadline stuck_;
  Deadline drain_;
};

// Ctrl-C at the terminal must reach the program through gpu-virt-bench only, and a program that asks for a password
// must not wait for an answer. A session of its own would do, too, but Linux shares processors out between sessions
// first (autogroup): on a busy machine with two cores, /bin/true in a new session ended 4 to 8 ms later.
void leave_terminal() {
  setpgid(0, 0);
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (terminal < 0) return;
  ioctl(terminal, TIOCNOTTY);
  close(terminal);
}

// In the foreground, the terminal's signals reach the keeper too, and are the program's to obey. Those that stop and
// continue the whole group stay as they are.
void block_signals(bool is_foreground) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  if (is_foreground)
    for (const int each : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH})
      sigaddset(&blocked, each);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
}

int keep(char** arguments, bool is_foreground, bool is_guardable) {
  if (!is_foreground) leave_terminal();
  const int control = is_foreground ? kInForeground : kBehind;
  block_signals(is_foreground);
  std::vector<std::string> environment;
  if (!read_environment(control, environment)) return 2;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return 2;
  for (const int descriptor : {control, kReports}) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  const Started started = start(arguments[0], arguments + 3, environment, {is_foreground, is_guardable});
  if (!started.refused.empty()) {
    report("refused %s %d\n", started.refused.c_str(), started.error);
    return 0;
  }
  report("started %d %lld\n", started.pid, started.at_ns);
  Keeper(started, {control, signals}, {std::atoll(arguments[1]), std::atoll(arguments[2])}).run();
  return 0;
}

}  // namespace
}  // namespace gvb::keeper

int main(int count, char** arguments) {
  const bool is_foreground = count >= 2 && std::strcmp(arguments[1], "--foreground") == 0;
  const bool is_guardable = count >= 2 && std::strcmp(arguments[1], "--guardable") == 0;
  const int options = is_foreground || is_guardable ? 2 : 1;
  if (count >= options + 4) return gvb::keeper::keep(arguments + options, is_foreground, is_guardable);
  std::fprintf(stderr, "gvb-keeper is started by gpu-virt-bench exec and profile.\n");
  return 2;
}

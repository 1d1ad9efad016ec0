// The parts of gvb-keeper that need no program: what it relays, and which processes it finds. How it starts, ends and
// accounts for programs is tested with programs (test/workers/kept-program.test.ts), and so is libgvb-witness.so, all
// of whose work is done when a process starts and exits (test/workers/run-once.test.ts).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "keeper/relay.h"
#include "keeper/tree.h"
#include "test/check.h"

using namespace gvb::keeper;

namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { CHECK(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0); }
  int from() const { return ends[0]; }
  int to() const { return ends[1]; }
};

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  return text;
}

void test_relay_passes_on() {
  const Pipe in, out;
  Relay relay(in.from(), out.to());
  CHECK(!relay.move());
  CHECK(relay.wanted().fd == in.from() && relay.wanted().events == POLLIN);
  CHECK(write(in.to(), "hello", 5) == 5);
  CHECK(relay.move());
  CHECK(read_all(out.from()) == "hello");
  // The end of what is read is passed on.
  close(in.to());
  CHECK(!relay.move());
  CHECK(!relay.open());
  char last = 0;
  CHECK(read(out.from(), &last, 1) == 0);
  close(out.from());
}

void test_relay_waits_for_room() {
  const Pipe in, out;
  const int room = fcntl(out.to(), F_SETPIPE_SZ, 4096);
  CHECK(room >= 4096);
  const std::string sent(static_cast<size_t>(3 * room), 'x');
  CHECK(write(in.to(), sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()));
  Relay relay(in.from(), out.to());
  size_t received = 0;
  for (int rounds = 0; rounds < 100 && received < sent.size(); ++rounds) {
    while (relay.move()) continue;
    // While something is there to read, only room can wake it: waiting for input would spin.
    const bool is_more = received + static_cast<size_t>(room) < sent.size();
    if (is_more) CHECK(relay.wanted().fd == out.to() && relay.wanted().events == POLLOUT);
    received += read_all(out.from()).size();
  }
  CHECK_EQUAL(received, sent.size());
  CHECK(!relay.move());
  CHECK(relay.wanted().fd == in.from());
  relay.close_both();
  CHECK(!relay.open());
  close(in.to());
  close(out.from());
}

void test_relay_without_a_reader() {
  const Pipe in, out;
  Relay relay(in.from(), out.to());
  close(out.from());
  CHECK(write(in.to(), "x", 1) == 1);
  CHECK(!relay.move());
  CHECK(!relay.open());
  // The program meets what a closed pipe gives, and is not kept waiting.
  CHECK(write(in.to(), "x", 1) < 0 && errno == EPIPE);
  close(in.to());
}

void test_descendants() {
  CHECK(descendants().empty());
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::vector<Descendant> living = descendants();
  CHECK(living.size() == 1 && living[0].pid == child && living[0].name == "keeper_test");
  signal_all(SIGKILL);
  siginfo_t ended{};
  CHECK(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  // It still waits for its parent to ask how it ended.
  CHECK(descendants().empty());
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace

int main() {
  signal(SIGPIPE, SIG_IGN);
  test_relay_passes_on();
  test_relay_waits_for_room();
  test_relay_without_a_reader();
  test_descendants();
  return test::report("keeper_test");
}

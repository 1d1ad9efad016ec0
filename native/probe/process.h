// Further processes of a probe. They report to the same place, one process after the other.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "probe/run.h"

namespace gvb::probe {

// The number that the descriptor `shared` has in a second process.
constexpr int kShared = 9;

struct SecondProcess {
  std::string program;  // empty: this program
  std::string token;
  std::vector<std::string> environment;  // the complete environment, as "NAME=VALUE"
  int shared = -1;                       // a descriptor to pass on
};

// This process's environment, with `variables` added or replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

pid_t start(const Run& run, const SecondProcess& second);
// Waits for the process and reports how it ended. If a signal killed it, this process ends by the same signal.
void await_end(const std::string& who, pid_t pid);
// Replaces this process.
[[noreturn]] void become(const Run& run, const SecondProcess& second);
// Forks a child that only runs `body`.
pid_t fork_child(const std::function<void()>& body);

}  // namespace gvb::probe

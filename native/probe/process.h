// Further processes of a probe. What they report goes to the same place, one process after the other.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "probe/run.h"

namespace gvb::probe {

// The descriptor that a second process finds `shared` under.
constexpr int kShared = 9;

struct SecondProcess {
  std::string program;  // empty: this one
  std::string token;
  std::vector<std::string> environment;  // "NAME=VALUE", the whole of it
  int shared = -1;                       // a descriptor it gets
};

// This process's own environment, with further variables in place of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

pid_t start(const Run& run, const SecondProcess& second);
// Waits for it and reports how it ended. One that was killed by a signal takes this process with it in the same way.
void await_end(const std::string& who, pid_t pid);
// In place of this process.
[[noreturn]] void become(const Run& run, const SecondProcess& second);
// A child of fork that does this and no more.
pid_t fork_child(const std::function<void()>& body);

}  // namespace gvb::probe

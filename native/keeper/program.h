// Starts the program: its own process group, real pipes for what it prints, the environment that it is given and no
// other.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gvb::keeper {

struct Started {
  pid_t pid = 0;
  // CLOCK_MONOTONIC, just before the fork.
  long long at_ns = 0;
  // What could not be done, with errno; empty where the program runs.
  std::string refused;
  int error = 0;
  // Reading ends of its standard output and standard error.
  int outputs[2] = {-1, -1};
};

long long now_ns();

// `command` ends in a null pointer. Each text of `environment` is NAME=VALUE.
Started start(const char* folder, char* const* command, std::vector<std::string>& environment);

}  // namespace gvb::keeper

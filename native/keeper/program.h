// Starts the program with exactly the given environment: in its own process group with pipes for its output, or in the
// foreground with the keeper's group, input and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gvb::keeper {

struct Started {
  pid_t pid = 0;
  // CLOCK_MONOTONIC, just before the fork.
  long long at_ns = 0;
  // What failed, with errno; empty if the program runs.
  std::string refused;
  int error = 0;
  // Reading ends of its standard output and standard error; -1 in the foreground.
  int outputs[2] = {-1, -1};
};

long long now_ns();

// In the foreground it does not leave the terminal; a guardable one does not die with the keeper.
struct Manner {
  bool is_foreground, is_guardable;
};

// `command` ends with a null pointer. Each string of `environment` is NAME=VALUE.
Started start(const char* folder, char* const* command, std::vector<std::string>& environment, Manner manner);

}  // namespace gvb::keeper

// All processes that descend from this one. This process is their subreaper and inherits those whose parent ended, so
// that none can leave the tree by forking.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gvb::keeper {

struct Descendant {
  pid_t pid;
  std::string name;
};

// Zombies are not included.
std::vector<Descendant> descendants();

void signal_all(int signal);

}  // namespace gvb::keeper

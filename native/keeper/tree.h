// All processes that descend from this one. As their subreaper it becomes the parent of those whose own parent ended,
// so that none can leave the tree by forking away.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gvb::keeper {

struct Descendant {
  pid_t pid;
  std::string name;
};

// Without those that have ended and wait for their parent to ask.
std::vector<Descendant> descendants();

void signal_all(int signal);

}  // namespace gvb::keeper

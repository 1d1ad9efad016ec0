#pragma once

#include <string>

namespace gvb::sim {

// The region of a process for which GVB_SIM names none: that of the command which started it, by GVB_SIM_COMMAND; else
// its own, which it shares with the children that it forks. Other users cannot predict it.
std::string own_region();

}  // namespace gvb::sim

// Functions that the driver or NVML lacks: those that GVB_SIM hides, and those newer than the driver.
#pragma once

#include <vector>

namespace gvb::sim {

struct ExportedFunction {
  const char* name;
  int version;  // CUDA version of the first driver that has it
  void* address;
};

bool is_hidden(const char* name);

// Removes from this library's symbols what it lacks. Call it before anybody can look a function up.
void hide_exports(const std::vector<ExportedFunction>& exports);

}  // namespace gvb::sim

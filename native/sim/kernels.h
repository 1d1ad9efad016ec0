// The kernels the simulated GPU can run: by name, functionally, with a model of their duration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sim/region.h"

namespace gvb::sim {

struct Geometry {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
};

// The values that cuLaunchKernel's kernelParams point to.
class Arguments {
 public:
  explicit Arguments(void* const* values) : values_(values) {}

  template <class T>
  T get(size_t index) const {
    T value;
    std::memcpy(&value, values_[index], sizeof value);
    return value;
  }

 private:
  void* const* values_;
};

// Memory a kernel touches; a launch with less than that accessible ends in CUDA_ERROR_ILLEGAL_ADDRESS.
struct Span {
  uint64_t address;
  size_t bytes;
  size_t alignment;
};

enum class Talk {
  kNone,       // nobody can tell when it runs
  kTimed,      // shows the host a time: the host waits for its modelled end
  kAnswering,  // runs in real time on a thread of its own until it is done
};

struct Plan {
  double nanoseconds = 0;  // on top of kernel_ns
  Talk talk = Talk::kNone;
  std::vector<Span> touches;
  std::function<void(const Placement&)> run;  // empty: no effect
};

struct Kernel {
  const char* name;
  std::vector<size_t> parameterBytes;
  Plan (*plan)(const Arguments& arguments, const Geometry& geometry);
};

const Kernel* findKernel(const std::string& name);  // null when the simulation does not know it

}  // namespace gvb::sim

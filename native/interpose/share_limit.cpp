#include "interpose/share_limit.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>

#include "base/text.h"
#include "interpose/timed_launch.h"
#include "kernels/ptx.h"

namespace gvb::interpose {

using abi::CUDA_SUCCESS;
using abi::CUresult;

namespace {

constexpr uint64_t kAnyGrid = std::numeric_limits<uint64_t>::max();

// The waiting kernel, loaded once per context that launches.
class Idle {
 public:
  CUresult load() {
    if (kernel_) return CUDA_SUCCESS;
    abi::CUmodule module = nullptr;
    CUresult code = driver().cuModuleLoadDataEx(&module, gvb_ptx_load, 0, nullptr, nullptr);
    if (code == CUDA_SUCCESS) code = driver().cuModuleGetFunction(&kernel_, module, "gvb_pause");
    return code;
  }
  // Stores the kernel's real duration in `took_ns`.
  CUresult wait(abi::CUstream stream, double ns, double* took_ns) {
    if (const CUresult code = load()) return code;
    auto spin_ns = static_cast<unsigned long long>(ns);
    void* parameters[] = {&spin_ns};
    TimedLaunch timed;
    const CUresult code = timed.time(
        stream, [&] { return driver().cuLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr); });
    *took_ns = timed.busy_ns();
    return code;
  }

 private:
  abi::CUfunction kernel_ = nullptr;
};

// How long the device must idle, in its own time: the sum of all launches and the idle times between them.
class Budget {
 public:
  // Called before every launch: checks whether the file names another share.
  void look() {
    if (share().file.empty()) return;
    const double said = percent_in_file();
    if (said != said_) {
      said_ = said;
      said_at_ns_ = now_ns_;
    }
    if (now_ns_ - said_at_ns_ >= static_cast<double>(share().lag_ns)) percent_ = said_;
  }
  // Returns 0 without a period: the idle time then follows the launch.
  double before() const {
    if (!holds() || share().period_ns == 0 || used_ns_ < allowed_ns()) return 0;
    return period_ends_ns() - now_ns_;
  }
  double after(double busy_ns) const { return holds() && share().period_ns == 0 ? busy_ns * (100 / percent_ - 1) : 0; }
  void pass(double busy_ns, double idle_ns) {
    const double ends = period_ends_ns();
    now_ns_ += busy_ns + idle_ns;
    used_ns_ += busy_ns;
    // A kernel's use beyond the end of a period is charged to the next ones.
    if (share().period_ns > 0 && now_ns_ >= ends) {
      const double periods = std::floor((now_ns_ - ends) / static_cast<double>(share().period_ns)) + 1;
      used_ns_ = holds() ? std::fmax(0, used_ns_ - periods * allowed_ns()) : 0;
    }
  }

 private:
  static const ShareLimit& share() { return settings().share; }
  bool holds() const {
    if (now_ns_ < static_cast<double>(share().from_ns)) return false;
    return share().swings_ns == 0 || static_cast<int64_t>(now_ns_) / share().swings_ns % 2 == 0;
  }
  double allowed_ns() const { return percent_ / 100 * static_cast<double>(share().period_ns); }
  double period_ends_ns() const {
    const auto period = static_cast<double>(share().period_ns);
    return (std::floor(now_ns_ / period) + 1) * period;
  }

  static double percent_in_file() {
    const auto line = first_line(share().file.c_str());
    const double said = line ? std::strtod(line->c_str(), nullptr) : 0;
    return said > 0 && said <= 100 ? said : share().percent;
  }

  double now_ns_ = 0;
  double used_ns_ = 0;
  double percent_ = share().percent;
  double said_ = share().percent;
  double said_at_ns_ = 0;
};

struct Shared {
  std::mutex mutex;
  std::map<abi::CUcontext, Idle> idle;
  Budget budget;
};

Shared& shared() {
  static Shared& instance = *new Shared;
  return instance;
}

CUresult idle(abi::CUstream stream, double ns) {
  if (ns < 1) return CUDA_SUCCESS;
  abi::CUcontext context = nullptr;
  if (const CUresult code = driver().cuCtxGetCurrent(&context)) return code;
  double took_ns = 0;
  const CUresult code = shared().idle[context].wait(stream, ns, &took_ns);
  shared().budget.pass(0, took_ns);
  return code;
}

// A captured launch runs nothing; its graph is limited when it is launched.
bool is_capturing(abi::CUstream stream) {
  abi::CUstreamCaptureStatus status = abi::CU_STREAM_CAPTURE_STATUS_NONE;
  return driver().cuStreamIsCapturing && driver().cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != abi::CU_STREAM_CAPTURE_STATUS_NONE;
}

template <class Launch>
CUresult limited(abi::CUstream stream, uint64_t blocks, const Launch& launch) {
  if (blocks < settings().share.least_blocks || is_capturing(stream)) return launch();
  const std::lock_guard<std::mutex> lock(shared().mutex);
  shared().budget.look();
  // Idles for several periods if a launch used up more than one.
  for (double ns; (ns = shared().budget.before()) >= 1;)
    if (const CUresult code = idle(stream, ns)) return code;
  TimedLaunch timed;
  const CUresult code = timed.time(stream, launch);
  if (code != CUDA_SUCCESS) return code;
  const double after = shared().budget.after(timed.busy_ns());
  shared().budget.pass(timed.busy_ns(), 0);
  return idle(stream, after);
}

}  // namespace

CUresult shared_launch(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared_bytes, abi::CUstream stream, void** parameters, void** extra) {
  return limited(stream, uint64_t{gx} * gy * gz, [&] {
    return driver().cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra);
  });
}

CUresult shared_launch_ex(const abi::CUlaunchConfig* config, abi::CUfunction kernel, void** parameters, void** extra) {
  const uint64_t blocks = config ? uint64_t{config->gridDimX} * config->gridDimY * config->gridDimZ : kAnyGrid;
  return limited(config ? config->hStream : nullptr, blocks,
                 [&] { return driver().cuLaunchKernelEx(config, kernel, parameters, extra); });
}

CUresult shared_cooperative(abi::CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared_bytes, abi::CUstream stream, void** parameters) {
  return limited(stream, uint64_t{gx} * gy * gz, [&] {
    return driver().cuLaunchCooperativeKernel(kernel, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters);
  });
}

CUresult shared_graph(abi::CUgraphExec graph, abi::CUstream stream) {
  return limited(stream, kAnyGrid, [&] { return driver().cuGraphLaunch(graph, stream); });
}

}  // namespace gvb::interpose

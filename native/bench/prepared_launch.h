// A kernel ready to be launched in any way that an application has.
#pragma once

#include <memory>

#include "bench/device_session.h"
#include "bench/one_node_graph.h"

namespace gvb {

enum class LaunchCall { kKernel, kKernelEx, kGraph, kCooperative };

class PreparedLaunch {
 public:
  // `parameters` must outlive it.
  PreparedLaunch(const Cuda& cuda, abi::CUfunction kernel, unsigned grid, unsigned threads, void** parameters)
      : cuda_(cuda),
        kernel_(kernel),
        grid_(grid),
        threads_(threads),
        parameters_(parameters),
        stream_(make_stream(cuda)),
        config_{grid, 1, 1, threads, 1, 1, 0, stream_.get(), nullptr, 0} {}

  abi::CUstream stream() const { return stream_.get(); }

  // Calls `use` with the call's name and a function that only makes the call, so that a timed region does not contain
  // the choice of the way.
  template <class Use>
  auto by(LaunchCall call, const Use& use) {
    const CudaApi& api = cuda_.api;
    if (call == LaunchCall::kKernel) {
      const auto launch = cuda_.require(api.cuLaunchKernel, "cuLaunchKernel");
      return use("cuLaunchKernel",
                 [&] { return launch(kernel_, grid_, 1, 1, threads_, 1, 1, 0, stream(), parameters_, nullptr); });
    }
    if (call == LaunchCall::kKernelEx) {
      const auto launch = cuda_.require(api.cuLaunchKernelEx, "cuLaunchKernelEx");
      return use("cuLaunchKernelEx", [&] { return launch(&config_, kernel_, parameters_, nullptr); });
    }
    if (call == LaunchCall::kCooperative) {
      const auto launch = cuda_.require(api.cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel");
      return use("cuLaunchCooperativeKernel",
                 [&] { return launch(kernel_, grid_, 1, 1, threads_, 1, 1, 0, stream(), parameters_); });
    }
    // A graph stores the values of its parameters, which may have changed since.
    graph_ = std::make_unique<OneNodeGraph>(cuda_, kernel_, grid_, threads_, parameters_);
    const auto launch = cuda_.require(api.cuGraphLaunch, "cuGraphLaunch");
    return use("cuGraphLaunch", [&] { return launch(graph_->executable(), stream()); });
  }

 private:
  const Cuda& cuda_;
  const abi::CUfunction kernel_;
  const unsigned grid_;
  const unsigned threads_;
  void** const parameters_;
  const Stream stream_;
  const abi::CUlaunchConfig config_;
  std::unique_ptr<OneNodeGraph> graph_;
};

}  // namespace gvb

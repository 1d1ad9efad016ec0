// An instantiated graph of one kernel. It holds the parameter values from the time of its creation.
#pragma once

#include "bench/device_session.h"

namespace gvb {

class OneNodeGraph {
 public:
  OneNodeGraph(const Cuda& cuda, abi::CUfunction kernel, unsigned grid, unsigned threads, void** parameters);

  abi::CUgraphExec executable() const { return executable_.get(); }
  abi::CUgraphNode node() const { return node_; }

 private:
  const Graph graph_;
  abi::CUgraphNode node_ = nullptr;
  GraphExecutable executable_;
};

}  // namespace gvb

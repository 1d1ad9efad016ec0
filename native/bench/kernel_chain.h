// A graph of kernels that run one after the other, instantiated. All are launched alike, with the values that the
// parameters have when it is made.
#pragma once

#include "bench/device_session.h"

namespace gvb {

struct ChainShape {
  unsigned grid = 1;
  unsigned threads = 1;
  unsigned nodes = 1;
};

class KernelChain {
 public:
  KernelChain(const Cuda& cuda, abi::CUfunction kernel, const ChainShape& shape, void** parameters);

  abi::CUgraphExec executable() const { return executable_.get(); }
  // The last one.
  abi::CUgraphNode node() const { return node_; }

 private:
  const Graph graph_;
  abi::CUgraphNode node_ = nullptr;
  GraphExecutable executable_;
};

}  // namespace gvb

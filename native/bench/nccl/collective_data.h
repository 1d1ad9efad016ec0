// What the ranks send in a collective, and whether it arrived. Of every burst it is different, and results are
// overwritten before the burst.
#pragma once

#include <memory>

#include "bench/nccl/collectives.h"
#include "bench/nccl/ranks.h"

namespace gvb {

class CollectiveData {
 public:
  CollectiveData(DeviceSession& session, const CollectivesRequest& request, size_t sent_bytes, abi::CUstream stream);
  virtual ~CollectiveData() = default;
  CollectiveData(const CollectiveData&) = delete;
  CollectiveData& operator=(const CollectiveData&) = delete;

  // Writes what this rank sends in a burst and clears its results, on the stream.
  void prepare(uint64_t seed);
  // Returns NCCL's error; empty: none.
  virtual std::string queue(const Ranks& ranks, unsigned operation) const = 0;
  // Number of wrong words in all results of the burst.
  virtual uint64_t wrong_words() const = 0;

  uint64_t words() const { return uint64_t{request_.operations} * (request_.bytes / sizeof(uint32_t)); }

  // Distance of results that lie side by side, in bytes.
  static size_t stride_of(size_t bytes);

 protected:
  virtual void write_sent() const = 0;
  abi::CUdeviceptr result(unsigned operation) const { return results_.get() + operation * stride_; }

  DeviceSession& session_;
  const CollectivesRequest& request_;
  const abi::CUstream stream_;
  const size_t stride_;
  const DeviceMemory sent_, results_;
  uint64_t seed_ = 0;
};

std::unique_ptr<CollectiveData> make_collective_data(DeviceSession& session, const CollectivesRequest& request,
                                                     abi::CUstream stream);
size_t sent_bytes_of(const CollectivesRequest& request);

}  // namespace gvb

// The default memory pool of a device, set to keep freed memory: by default it gives memory back at every
// synchronisation.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/device_session.h"

namespace gvb {

// A pool's own report; nullopt for what it does not report.
struct PoolState {
  std::optional<uint64_t> threshold_bytes;
  std::optional<uint64_t> used_bytes;
  std::optional<uint64_t> reserved_bytes;
};

class WarmPool {
 public:
  WarmPool(const DeviceSession& session, abi::CUstream stream);
  // Restores the threshold and the size that it found.
  ~WarmPool();
  WarmPool(const WarmPool&) = delete;
  WarmPool& operator=(const WarmPool&) = delete;

  abi::CUmemoryPool get() const { return pool_; }

 private:
  const Cuda& cuda_;
  const abi::CUstream stream_;
  const abi::CUmemoryPool pool_;
  const PoolState found_;
  unsigned long long threshold_ = 0;
};

abi::CUmemoryPool default_pool(const DeviceSession& session);
PoolState pool_state(const Cuda& cuda, abi::CUmemoryPool pool);

// Makes the pool hold that much.
void warm_pool(const Cuda& cuda, size_t bytes, abi::CUstream stream);

}  // namespace gvb

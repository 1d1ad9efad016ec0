// RAII for driver objects: each is freed through the symbol path that created it, because a layer refuses (and leaks)
// what it did not see allocated. Clean-up ignores codes: the call that first failed has already reported a lost device.
#pragma once

#include <string>
#include <utility>

#include "driver/driver.h"

namespace gvb {

template <class Handle, abi::CUresult (*CudaApi::*Destroy)(Handle)>
class Owned {
 public:
  Owned(const Cuda& cuda, Handle handle) : cuda_(&cuda), handle_(handle) {}
  Owned(Owned&& other) noexcept : cuda_(other.cuda_), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(cuda_, other.cuda_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ && cuda_->api.*Destroy) (cuda_->api.*Destroy)(handle_);
  }
  Handle get() const { return handle_; }

 private:
  const Cuda* cuda_;
  Handle handle_;
};

using Stream = Owned<abi::CUstream, &CudaApi::cuStreamDestroy_v2>;
using Event = Owned<abi::CUevent, &CudaApi::cuEventDestroy_v2>;
using DeviceMemory = Owned<abi::CUdeviceptr, &CudaApi::cuMemFree_v2>;
using Graph = Owned<abi::CUgraph, &CudaApi::cuGraphDestroy>;
using GraphExecutable = Owned<abi::CUgraphExec, &CudaApi::cuGraphExecDestroy>;

inline Stream make_stream(const Cuda& cuda) {
  abi::CUstream stream = nullptr;
  GVB_CALL(cuda, "creating a stream", cuStreamCreate, &stream, abi::CU_STREAM_NON_BLOCKING);
  return Stream(cuda, stream);
}

inline Event make_event(const Cuda& cuda, unsigned flags = abi::CU_EVENT_DEFAULT) {
  abi::CUevent event = nullptr;
  GVB_CALL(cuda, "creating an event", cuEventCreate, &event, flags);
  return Event(cuda, event);
}

// Where memory is short, the error says how much was needed.
inline DeviceMemory make_memory(const Cuda& cuda, size_t bytes) {
  abi::CUdeviceptr pointer = 0;
  const abi::CUresult code = cuda.require(cuda.api.cuMemAlloc_v2, "cuMemAlloc_v2")(&pointer, bytes);
  if (code == abi::CUDA_ERROR_OUT_OF_MEMORY)
    cuda.check(code, "cuMemAlloc_v2", ("allocating " + std::to_string(bytes) + " bytes of device memory").c_str(),
               bytes);
  cuda.check(code, "cuMemAlloc_v2", "allocating device memory");
  return DeviceMemory(cuda, pointer);
}

// Host memory that the device can write: both its addresses.
class MappedMemory {
 public:
  MappedMemory(const Cuda& cuda, size_t bytes) : cuda_(cuda) {
    // Looked up first: if one is missing, nothing stays pinned.
    const auto map = cuda.require(cuda.api.cuMemHostGetDevicePointer_v2, "cuMemHostGetDevicePointer_v2");
    cuda.require(cuda.api.cuMemFreeHost, "cuMemFreeHost");
    GVB_CALL(cuda, "allocating mapped host memory", cuMemHostAlloc, &host_, bytes, abi::CU_MEMHOSTALLOC_DEVICEMAP);
    const abi::CUresult code = map(&device_, host_, 0);
    if (code != abi::CUDA_SUCCESS) cuda.try_call(cuda.api.cuMemFreeHost, host_);
    cuda.check(code, "cuMemHostGetDevicePointer_v2", "mapping host memory");
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory() { cuda_.try_call(cuda_.api.cuMemFreeHost, host_); }

  // The device accesses this memory while the host reads it, so every access is atomic.
  template <class T>
  T load(size_t offset = 0) const {
    return __atomic_load_n(reinterpret_cast<const T*>(static_cast<const char*>(host_) + offset), __ATOMIC_ACQUIRE);
  }
  template <class T>
  void store(T value, size_t offset = 0) const {
    __atomic_store_n(reinterpret_cast<T*>(static_cast<char*>(host_) + offset), value, __ATOMIC_RELEASE);
  }
  void* host() const { return host_; }
  abi::CUdeviceptr device(size_t offset = 0) const { return device_ + offset; }

 private:
  const Cuda& cuda_;
  void* host_ = nullptr;
  abi::CUdeviceptr device_ = 0;
};

}  // namespace gvb

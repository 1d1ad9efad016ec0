#include "bench/copy_source.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "bench/copy_pattern.h"
#include "bench/on_node.h"

namespace gvb {

namespace {

// Host memory that is filled with the pattern, so that all its pages exist, and pinned if requested.
class SourceMemory {
 public:
  SourceMemory(const Cuda& cuda, const SourceCopiesRequest& request)
      : cuda_(cuda), source_(request.source), bytes_(request.bytes + CopyPattern::kSpareBytes) {
    const CopyPattern pattern(request.seed);
    if (source_ == CopySource::kHostAlloc) {
      cuda.require(cuda.api.cuMemFreeHost, "cuMemFreeHost");
      const auto allocate = cuda.require(cuda.api.cuMemHostAlloc, "cuMemHostAlloc");
      pin("cuMemHostAlloc", [&] { return allocate(&memory_, bytes_, 0U); });
      pattern.fill_host(memory_, bytes_);
      return;
    }
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED)
      throw Failure(FailureKind::kInvalidResult, "The host has no memory to copy from: mmap of " +
                                                     std::to_string(bytes_) + " bytes: " + std::strerror(errno) + ".");
    pattern.fill_host(memory_, bytes_);
    if (source_ == CopySource::kRegistered) try_register();
  }
  ~SourceMemory() {
    if (source_ == CopySource::kHostAlloc) {
      cuda_.try_call(cuda_.api.cuMemFreeHost, memory_);
      return;
    }
    if (source_ == CopySource::kRegistered) cuda_.try_call(cuda_.api.cuMemHostUnregister, memory_);
    munmap(memory_, bytes_);
  }
  SourceMemory(const SourceMemory&) = delete;
  SourceMemory& operator=(const SourceMemory&) = delete;

  const void* at(size_t word) const { return static_cast<const uint32_t*>(memory_) + word; }
  size_t bytes() const { return bytes_; }
  std::optional<double> pin_ns() const { return pin_ns_; }

 private:
  template <class Call>
  void pin(const char* name, const Call& call) {
    const int64_t before = now_ns();
    const abi::CUresult code = call();
    const int64_t after = now_ns();
    cuda_.check(code, name, "pinning memory of the host");
    pin_ns_ = static_cast<double>(after - before);
  }

  void try_register() {
    try {
      cuda_.require(cuda_.api.cuMemHostUnregister, "cuMemHostUnregister");
      const auto enrol = cuda_.require(cuda_.api.cuMemHostRegister_v2, "cuMemHostRegister_v2");
      pin("cuMemHostRegister_v2", [&] { return enrol(memory_, bytes_, 0U); });
    } catch (...) {
      munmap(memory_, bytes_);
      throw;
    }
  }

  const Cuda& cuda_;
  const CopySource source_;
  const size_t bytes_;
  void* memory_ = nullptr;
  std::optional<double> pin_ns_;
};

}  // namespace

SourceCopies measure_source_copies(DeviceSession& session, const SourceCopiesRequest& request) {
  const Cuda& cuda = session.cuda;
  const OnNode node(session);
  const SourceMemory source(cuda, request);
  const DeviceMemory memory = make_memory(cuda, request.bytes);
  const Stream stream = make_stream(cuda);
  const ArrivalCheck arrived(session, stream.get());
  const auto copy = cuda.require(cuda.api.cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2");
  const auto synchronise = cuda.require(cuda.api.cuCtxSynchronize, "cuCtxSynchronize");
  CopyPattern pattern(request.seed);
  SourceCopies copies;
  copies.node = node.number();
  copies.pin_ns = source.pin_ns();
  copies.pinned_bytes = source.pin_ns() ? source.bytes() : 0;
  for (unsigned i = 0; i < request.warmup + request.count; ++i) {
    session.token.check();
    const size_t first = pattern.next();
    const int64_t before = now_ns();
    const abi::CUresult copied = copy(memory.get(), source.at(first), request.bytes);
    const abi::CUresult over = synchronise();
    const int64_t after = now_ns();
    cuda.check(copied, "cuMemcpyHtoD_v2", "copying to the device");
    cuda.check(over, "cuCtxSynchronize", "copying to the device");
    arrived.check(memory.get(), pattern.from(first), request.bytes, "A copy to the device");
    if (i >= request.warmup) copies.copy_ns.push_back(static_cast<double>(after - before));
  }
  return copies;
}

}  // namespace gvb

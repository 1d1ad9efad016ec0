#include "bench/copy_rate.h"

#include <memory>

#include "bench/copy_sample.h"
#include "bench/on_node.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUstream;

namespace {

class HostCopySample : public CopySample {
 public:
  HostCopySample(DeviceSession& session, const CopyRateRequest& request)
      : CopySample(session.cuda, {request.bytes * request.copies, request.seed}), request_(request) {}

 protected:
  const CopyRateRequest& request_;
};

// Copies that follow one another.
struct Ends {
  CUdeviceptr to, from;
};

// Several copies of `bytes` each, in one call.
class CopyBatch {
 public:
  CopyBatch(const Cuda& cuda, const CopyRateRequest& request)
      : cuda_(cuda), bytes_(request.bytes), to_(request.copies), from_(request.copies), sizes_(request.copies) {
    cuda.require(cuda.api.cuMemcpyBatchAsync, "cuMemcpyBatchAsync");
  }

  void queue(const Ends& ends, CUstream stream) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      to_[i] = ends.to + i * bytes_;
      from_[i] = ends.from + i * bytes_;
      sizes_[i] = bytes_;
    }
    abi::CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = abi::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    size_t first = 0, failed = 0;
    GVB_CALL(cuda_, "copying a batch", cuMemcpyBatchAsync, to_.data(), from_.data(), sizes_.data(), sizes_.size(),
             &attributes, &first, size_t{1}, &failed, stream);
  }

 private:
  const Cuda& cuda_;
  const size_t bytes_;
  std::vector<CUdeviceptr> to_, from_;
  std::vector<size_t> sizes_;
};

class ToDevice : public HostCopySample {
 public:
  ToDevice(DeviceSession& session, const CopyRateRequest& request)
      : HostCopySample(session, request),
        source_(session.kept<PinnedBuffers>().source(bytes_, CopyPattern(request.seed))),
        memory_(make_memory(session.cuda, bytes_)),
        arrived_(session, stream()) {}

  void queue() override {
    const char* const from = static_cast<const char*>(source_.host()) + offset();
    for (size_t i = 0; i < request_.copies; ++i)
      GVB_CALL(cuda_, "copying to the device", cuMemcpyHtoDAsync_v2, memory_.get() + i * request_.bytes,
               from + i * request_.bytes, request_.bytes, stream());
  }
  void check(size_t) override { arrived_.check(memory_.get(), pattern_.from(first_), bytes_, "A copy to the device"); }

 protected:
  const MappedMemory& source_;
  const DeviceMemory memory_;

 private:
  const ArrivalCheck arrived_;
};

class ToHost : public HostCopySample {
 public:
  ToHost(DeviceSession& session, const CopyRateRequest& request)
      : HostCopySample(session, request),
        memory_(make_memory(session.cuda, bytes_ + CopyPattern::kSpareBytes)),
        target_(session.kept<PinnedBuffers>().target(bytes_)) {
    PatternWriter(session, stream()).write(memory_.get(), pattern_, bytes_ + CopyPattern::kSpareBytes);
  }

  void queue() override {
    for (size_t i = 0; i < request_.copies; ++i)
      GVB_CALL(cuda_, "copying to the host", cuMemcpyDtoHAsync_v2,
               static_cast<char*>(target_.host()) + i * request_.bytes, memory_.get() + offset() + i * request_.bytes,
               request_.bytes, stream());
  }
  void check(size_t step) override {
    pattern_.from(first_).check_host(target_.host(), bytes_, "A copy to the host", step);
  }

 protected:
  const DeviceMemory memory_;
  const MappedMemory& target_;
};

template <class Way>
class Batched : public Way {
 public:
  Batched(DeviceSession& session, const CopyRateRequest& request)
      : Way(session, request), batch_(session.cuda, request) {}

  void queue() override {
    if constexpr (std::is_same_v<Way, ToDevice>)
      batch_.queue({this->memory_.get(), reinterpret_cast<CUdeviceptr>(this->source_.host()) + this->offset()},
                   this->stream());
    else
      batch_.queue({reinterpret_cast<CUdeviceptr>(this->target_.host()), this->memory_.get() + this->offset()},
                   this->stream());
  }

 private:
  CopyBatch batch_;
};

void require_two_engines(const DeviceSession& session) {
  const auto engines = device_attribute(session.cuda, session.device, abi::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  if (engines && *engines < 2)
    throw Failure(FailureKind::kFunctionMissing,
                  "The device has one copy engine: it copies in one direction at a time.");
}

// A kernel's stores to memory of the host. Each sample writes another pattern.
class Stores : public HostCopySample {
 public:
  Stores(DeviceSession& session, const CopyRateRequest& request)
      : HostCopySample(session, request),
        target_(session.kept<PinnedBuffers>().target(bytes_)),
        writer_(session, stream()) {}

  void queue() override { writer_.write(target_.device(), pattern_.from(first_), bytes_); }
  void check(size_t step) override {
    pattern_.from(first_).check_host(target_.host(), bytes_, "A kernel that stores to memory of the host", step);
  }

 private:
  const MappedMemory& target_;
  const PatternWriter writer_;
};

std::unique_ptr<CopySample> sample_of(DeviceSession& session, const CopyRateRequest& request) {
  switch (request.way) {
    case CopyWay::kToDevice:
      return std::make_unique<ToDevice>(session, request);
    case CopyWay::kToHost:
      return std::make_unique<ToHost>(session, request);
    case CopyWay::kToDeviceBatch:
      return std::make_unique<Batched<ToDevice>>(session, request);
    case CopyWay::kToHostBatch:
      return std::make_unique<Batched<ToHost>>(session, request);
    case CopyWay::kBoth:
      require_two_engines(session);
      return std::make_unique<AtOnce>(session.cuda, std::make_unique<ToDevice>(session, request),
                                      std::make_unique<ToHost>(session, request));
    case CopyWay::kStore:
      return std::make_unique<Stores>(session, request);
  }
  return nullptr;
}

}  // namespace

const MappedMemory& PinnedBuffers::of(Buffer& buffer, size_t bytes) {
  if (buffer.bytes < bytes) {
    buffer.memory.reset();
    buffer.bytes = 0;
    buffer.memory.emplace(cuda_, bytes);
    buffer.bytes = bytes;
  }
  return *buffer.memory;
}

const MappedMemory& PinnedBuffers::source(size_t bytes, const CopyPattern& pattern) {
  const size_t before = source_.bytes;
  const MappedMemory& memory = of(source_, bytes + CopyPattern::kSpareBytes);
  if (source_.bytes != before || source_.seed != pattern.seed()) pattern.fill_host(memory.host(), source_.bytes);
  source_.seed = pattern.seed();
  return memory;
}

const MappedMemory& PinnedBuffers::target(size_t bytes) { return of(target_, bytes); }

CopyRate measure_copy_rate(DeviceSession& session, const CopyRateRequest& request) {
  if (request.bytes == 0 || request.bytes % sizeof(uint32_t) != 0 || request.copies == 0)
    throw std::logic_error("unreachable: copies of whole words");
  const OnNode node(session);
  CopyRate rate;
  rate.node = node.number();
  const auto sample = sample_of(session, request);
  rate.device_ns = time_copies(session, *sample, {request.warmup, request.count});
  return rate;
}

}  // namespace gvb

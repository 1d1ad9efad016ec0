#include "bench/residue.h"

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "bench/blocks.h"
#include "kernels/ptx_file.h"

namespace gvb {

namespace {

constexpr uint32_t kMark = 2654435761u;  // must match residue.cu
constexpr size_t kUnit = 16;
constexpr size_t kResidueChunk = size_t{256} << 20, kSmallestResidueChunk = size_t{2} << 20;
constexpr unsigned kResidueThreads = 256, kResidueBlocksPerMultiprocessor = 16;
// Must match residue.cu: shared memory per block, local memory and registers per thread.
constexpr uint64_t kSharedBytes = uint64_t{48} * 1024, kLocalBytes = 1024, kRegisterBytes = uint64_t{24} * 16;
constexpr unsigned kRegisterThreads = 128;  // so that several such blocks fit on a multiprocessor

uint64_t marked(uint64_t words) {
  const auto low = static_cast<uint32_t>(words) * kMark, high = static_cast<uint32_t>(words >> 32) * kMark;
  return uint64_t{high} << 32 | low;
}

bool on_chip(Surface surface) { return surface >= Surface::kShared; }

// Blocks of one way to allocate; freed with the object.
class Held {
 public:
  virtual ~Held() = default;
  // Returns the address of a new block, or 0 and the driver's code.
  virtual abi::CUdeviceptr allocate(size_t bytes, abi::CUresult* code) = 0;
  virtual void fill(TagScanner& scanner, const Chunk& block, const Tag& tag) { scanner.fill(block, tag); }
  virtual SurfaceFound scan(TagScanner& scanner, const Chunk& block, const Tag& mark) {
    return scanner.scan(block, mark);
  }
};

void add(SurfaceFound& sum, const SurfaceFound& found) {
  sum.bytes += found.bytes;
  sum.tagged_bytes += found.tagged_bytes;
  sum.other_bytes += found.other_bytes;
}

class HeldByAllocator : public Held {
 public:
  HeldByAllocator(DeviceSession& session, AllocationApi api)
      : session_(session), api_(api), stream_(make_stream(session.cuda)) {}
  ~HeldByAllocator() override {
    for (auto& [allocator, block] : blocks_) {
      allocator->release(block);
      allocator->retire(block);
    }
  }
  abi::CUdeviceptr allocate(size_t bytes, abi::CUresult* code) override {
    auto allocator = make_allocator(session_, api_, bytes, stream_.get());
    Block block = allocator->prepare();
    *code = allocator->allocate(block);
    if (*code != abi::CUDA_SUCCESS) {
      allocator->retire(block);
      return 0;
    }
    // Other streams may use stream-ordered memory once its stream has reached the allocation.
    GVB_CALL(session_.cuda, "waiting for an allocation", cuStreamSynchronize, stream_.get());
    blocks_.emplace_back(std::move(allocator), block);
    return blocks_.back().second.pointer;
  }

 private:
  DeviceSession& session_;
  const AllocationApi api_;
  const Stream stream_;
  std::vector<std::pair<std::unique_ptr<Allocator>, Block>> blocks_;
};

class HeldManaged : public Held {
 public:
  explicit HeldManaged(DeviceSession& session) : cuda_(session.cuda), device_(session.device) {}
  // The first block comes to the card by page faults; the others, for speed, by a prefetch where there is one.
  abi::CUdeviceptr allocate(size_t bytes, abi::CUresult* code) override {
    abi::CUdeviceptr pointer = 0;
    *code = cuda_.require(cuda_.api.cuMemAllocManaged, "cuMemAllocManaged")(&pointer, bytes, abi::CU_MEM_ATTACH_GLOBAL);
    if (*code != abi::CUDA_SUCCESS) return 0;
    if (!blocks_.empty()) cuda_.try_call(cuda_.api.cuMemPrefetchAsync, pointer, bytes, device_, nullptr);
    blocks_.emplace_back(cuda_, pointer);
    return pointer;
  }

 private:
  const Cuda& cuda_;
  const abi::CUdevice device_;
  std::vector<DeviceMemory> blocks_;
};

class HeldPinned : public Held {
 public:
  explicit HeldPinned(DeviceSession& session) : cuda_(session.cuda) {}
  abi::CUdeviceptr allocate(size_t bytes, abi::CUresult* code) override {
    *code = abi::CUDA_SUCCESS;
    try {
      blocks_.push_back(std::make_unique<MappedMemory>(cuda_, bytes));
    } catch (const CallFailure& failure) {
      *code = failure.code;
      return 0;
    }
    return blocks_.back()->device();
  }

 private:
  const Cuda& cuda_;
  std::vector<std::unique_ptr<MappedMemory>> blocks_;
};

// Only copies reach arrays: the kernels read one part of an array at a time in a buffer.
class HeldArrays : public Held {
 public:
  explicit HeldArrays(DeviceSession& session) : cuda_(session.cuda), buffer_(make_memory(cuda_, kBufferBytes)) {}
  ~HeldArrays() override {
    for (const abi::CUarray array : arrays_) cuda_.try_call(cuda_.api.cuArrayDestroy, array);
  }
  abi::CUdeviceptr allocate(size_t bytes, abi::CUresult* code) override {
    const abi::CUDA_ARRAY_DESCRIPTOR wanted = {kRowBytes / kUnit, bytes / kRowBytes, abi::CU_AD_FORMAT_FLOAT, 4};
    abi::CUarray array = nullptr;
    *code = cuda_.require(cuda_.api.cuArrayCreate_v2, "cuArrayCreate_v2")(&array, &wanted);
    if (*code != abi::CUDA_SUCCESS) return 0;
    arrays_.push_back(array);
    return arrays_.size();  // an array has no address: its number stands for it
  }
  void fill(TagScanner& scanner, const Chunk& block, const Tag& tag) override {
    scanner.fill({buffer_.get(), kBufferBytes}, tag);
    each_part(block, [&](size_t row, size_t bytes) { copy({block, row, bytes}, true); });
  }
  SurfaceFound scan(TagScanner& scanner, const Chunk& block, const Tag& mark) override {
    SurfaceFound sum;
    each_part(block, [&](size_t row, size_t bytes) {
      // Cleared, so that everything found in it comes from the array.
      GVB_CALL(cuda_, "clearing a buffer", cuMemsetD8_v2, buffer_.get(), 0, kBufferBytes);
      copy({block, row, bytes}, false);
      add(sum, scanner.scan({buffer_.get(), bytes}, mark));
    });
    return sum;
  }

 private:
  static constexpr size_t kRowBytes = size_t{256} << 10, kBufferBytes = size_t{4} << 20;

  struct Part {
    const Chunk& block;
    size_t row;
    size_t bytes;
  };

  template <class Use>
  static void each_part(const Chunk& block, const Use& use) {
    for (size_t at = 0; at < block.bytes; at += kBufferBytes)
      use(at / kRowBytes, std::min(kBufferBytes, block.bytes - at));
  }
  void copy(const Part& part, bool to_array) const {
    abi::CUDA_MEMCPY3D copy{};
    const abi::CUarray array = arrays_[part.block.address - 1];
    copy.srcMemoryType = to_array ? abi::CU_MEMORYTYPE_DEVICE : abi::CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? abi::CU_MEMORYTYPE_ARRAY : abi::CU_MEMORYTYPE_DEVICE;
    (to_array ? copy.dstArray : copy.srcArray) = array;
    (to_array ? copy.dstY : copy.srcY) = part.row;
    (to_array ? copy.srcDevice : copy.dstDevice) = buffer_.get();
    (to_array ? copy.srcPitch : copy.dstPitch) = kRowBytes;
    (to_array ? copy.srcHeight : copy.dstHeight) = part.bytes / kRowBytes;
    copy.WidthInBytes = kRowBytes;
    copy.Height = part.bytes / kRowBytes;
    copy.Depth = 1;
    GVB_CALL(cuda_, "copying between an array and a buffer", cuMemcpy3D_v2, &copy);
  }

  const Cuda& cuda_;
  const DeviceMemory buffer_;
  std::vector<abi::CUarray> arrays_;
};

std::unique_ptr<Held> hold(DeviceSession& session, Surface surface) {
  switch (surface) {
    case Surface::kPool:
      return std::make_unique<HeldByAllocator>(session, AllocationApi::kAllocAsync);
    case Surface::kVirtual:
      return std::make_unique<HeldByAllocator>(session, AllocationApi::kMemCreate);
    case Surface::kManaged:
      return std::make_unique<HeldManaged>(session);
    case Surface::kArray:
      return std::make_unique<HeldArrays>(session);
    case Surface::kPinned:
      return std::make_unique<HeldPinned>(session);
    default:
      return std::make_unique<HeldByAllocator>(session, AllocationApi::kMemAlloc);
  }
}

// A session's blocks, until they are released. No other measurement may run in a process that uses it.
struct HeldSurfaces {
  explicit HeldSurfaces(DeviceSession& session) : scanner(session) {}
  TagScanner scanner;
  std::vector<std::unique_ptr<Held>> held;
  uint64_t bytes = 0;
};

// Looks at the blocks only after all are allocated: a freed block must not be handed out again as the next one.
SurfaceFound visit_memory(DeviceSession& session, HeldSurfaces& kept, const SurfaceRequest& request) {
  std::vector<Chunk> chunks;
  kept.held.push_back(hold(session, request.surface));
  Held& held = *kept.held.back();
  abi::CUresult code = abi::CUDA_SUCCESS;
  size_t got = 0;
  for (size_t chunk = kResidueChunk; chunk >= kSmallestResidueChunk;) {
    session.token.check();
    const abi::CUdeviceptr address = got + chunk > request.most_bytes ? 0 : held.allocate(chunk, &code);
    if (address == 0) {
      chunk /= 2;
      continue;
    }
    chunks.push_back({address, chunk});
    got += chunk;
  }
  SurfaceFound sum;
  if (chunks.empty())
    sum.unsupported =
        code == abi::CUDA_SUCCESS ? "there is no room" : "the allocation was refused: " + session.cuda.error_name(code);
  if (!request.fill.empty())
    for (const Chunk& chunk : chunks) held.fill(kept.scanner, chunk, parse_tag(request.fill));
  for (const Chunk& chunk : chunks) add(sum, held.scan(kept.scanner, chunk, parse_tag(request.mark)));
  kept.bytes += got;
  return sum;
}

SurfaceFound visit_chip(DeviceSession& session, TagScanner& scanner, const SurfaceRequest& request) {
  const Tag mark = parse_tag(request.mark), tag = request.fill.empty() ? Tag{} : parse_tag(request.fill);
  const int64_t until = now_ns() + int64_t{request.for_ms} * 1'000'000;
  SurfaceFound sum;
  do {
    session.token.check();
    add(sum, scanner.on_chip(request.surface, request.fill.empty() ? nullptr : &tag, mark));
  } while (now_ns() < until);
  return sum;
}

}  // namespace

Tag parse_tag(const std::string& digits) {
  const auto part = [&](size_t from) { return std::strtoull(digits.substr(from, 16).c_str(), nullptr, 16); };
  if (digits.size() != 32 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Failure(FailureKind::kInvalidResult, "a tag has 32 hexadecimal digits.");
  return {part(16), part(0)};
}

Tag mark_of(const Tag& tag) { return {marked(tag.low), marked(tag.high)}; }

TagScanner::TagScanner(DeviceSession& session)
    : cuda_(session.cuda),
      module_(cuda_, ptx_file("residue").c_str()),
      multiprocessors_(card_multiprocessors(session)),
      counters_(make_memory(cuda_, 2 * kUnit)) {}

void TagScanner::launch(const char* kernel, unsigned blocks, unsigned threads, void** parameters) {
  GVB_CALL(cuda_, "launching a kernel that looks at memory", cuLaunchKernel, module_.function(kernel), blocks, 1, 1,
           threads, 1, 1, 0, nullptr, parameters, nullptr);
}

void TagScanner::clear(const Tag* tag) {
  const uint64_t words[4] = {0, 0, tag ? tag->low : 0, tag ? tag->high : 0};
  GVB_CALL(cuda_, "clearing counters", cuMemcpyHtoD_v2, counters_.get(), words, sizeof words);
}

SurfaceFound TagScanner::found(uint64_t bytes) {
  uint64_t counts[2] = {};
  GVB_CALL(cuda_, "reading what was found", cuMemcpyDtoH_v2, counts, counters_.get(), sizeof counts);
  return {bytes, counts[0] * kUnit, counts[1] * kUnit, ""};
}

void TagScanner::fill(const Chunk& memory, const Tag& tag) {
  auto [address, bytes] = memory;
  uint64_t count = bytes / kUnit, low = tag.low, high = tag.high;
  void* parameters[] = {&address, &count, &low, &high};
  launch("gvb_tag_fill", multiprocessors_ * kResidueBlocksPerMultiprocessor, kResidueThreads, parameters);
}

SurfaceFound TagScanner::scan(const Chunk& memory, const Tag& mark) {
  auto [address, bytes] = memory;
  clear(nullptr);
  uint64_t count = bytes / kUnit, low = mark.low, high = mark.high;
  abi::CUdeviceptr counts = counters_.get();
  void* parameters[] = {&address, &count, &low, &high, &counts};
  launch("gvb_tag_scan", multiprocessors_ * kResidueBlocksPerMultiprocessor, kResidueThreads, parameters);
  return found(bytes);
}

SurfaceFound TagScanner::on_chip(Surface surface, const Tag* tag, const Tag& mark) {
  clear(surface == Surface::kRegisters ? tag : nullptr);
  const unsigned blocks = multiprocessors_ * kResidueBlocksPerMultiprocessor;
  uint64_t low = tag ? tag->low : 0, high = tag ? tag->high : 0, mark_low = mark.low, mark_high = mark.high;
  abi::CUdeviceptr counts = counters_.get(), at = counts + kUnit;
  if (surface == Surface::kRegisters) {
    unsigned fills = tag ? 1 : 0;
    void* parameters[] = {&at, &fills, &mark_low, &mark_high, &counts};
    launch("gvb_registers", blocks, kRegisterThreads, parameters);
    return found(uint64_t{blocks} * kRegisterThreads * kRegisterBytes);
  }
  void* fill[] = {&low, &high, &mark_low, &mark_high, &counts};
  void* scan[] = {&mark_low, &mark_high, &counts};
  const bool shared = surface == Surface::kShared;
  launch(shared ? (tag ? "gvb_shared_fill" : "gvb_shared_scan") : (tag ? "gvb_local_fill" : "gvb_local_scan"), blocks,
         kResidueThreads, tag ? fill : scan);
  return found(blocks * (shared ? kSharedBytes : kResidueThreads * kLocalBytes));
}

SurfaceFound visit_surface(DeviceSession& session, const SurfaceRequest& request) {
  auto& kept = session.kept<HeldSurfaces>();
  try {
    if (on_chip(request.surface)) return visit_chip(session, kept.scanner, request);
    return visit_memory(session, kept, request);
  } catch (const CallFailure&) {
    throw;
  } catch (const Failure& failure) {
    if (failure.kind() != FailureKind::kFunctionMissing) throw;
    return {0, 0, 0, failure.what()};
  }
}

Released release_surfaces(DeviceSession& session) {
  auto& kept = session.kept<HeldSurfaces>();
  const Released released{kept.bytes};
  kept.held.clear();
  kept.bytes = 0;
  return released;
}

TenantMemory tenant_memory(DeviceSession& session) {
  size_t free_bytes = 0, total = 0;
  GVB_CALL(session.cuda, "asking for free memory", cuMemGetInfo_v2, &free_bytes, &total);
  return {free_bytes, total};
}

}  // namespace gvb

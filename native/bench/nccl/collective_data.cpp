#include "bench/nccl/collective_data.h"

#include "bench/copy_pattern.h"
#include "bench/kept_modules.h"

namespace gvb {

using abi::CUdeviceptr;
using abi::CUstream;

namespace {

// As cuMemAlloc aligns: a collective may take another way for what is not aligned.
constexpr size_t kResultAlignment = 512;
constexpr unsigned char kUnwritten = 0xff;
constexpr unsigned kDataThreads = 256, kDataBlocksEach = 8;
// Between the patterns of the ranks.
constexpr uint64_t kSeedOfRank = 0x10001;

// Of numbers whose sums are exact in single precision.
class Sums : public CollectiveData {
 public:
  Sums(DeviceSession& session, const CollectivesRequest& request, CUstream stream)
      : CollectiveData(session, request, request.bytes, stream),
        module_(kept_module(session, "collectives")),
        fill_(module_.function("gvb_parts")),
        check_(module_.function("gvb_sums_check")),
        blocks_(kDataBlocksEach * multiprocessors_of(session)),
        counted_(session, stream) {}

  std::string queue(const Ranks& ranks, unsigned operation) const override {
    return ranks.all_reduce({sent_.get(), result(operation), numbers(), abi::ncclFloat32}, stream_);
  }

  uint64_t wrong_words() const override {
    unsigned long long count = numbers(), results = request_.operations, step = stride_ / sizeof(float);
    unsigned ranks = request_.ranks, seed = static_cast<unsigned>(seed_);
    CUdeviceptr first = result(0), found = counted_.device();
    void* parameters[] = {&first, &count, &results, &step, &ranks, &seed, &found};
    return counted_.wrong_of(words(), [&] { launch(check_, parameters); });
  }

 protected:
  void write_sent() const override {
    CUdeviceptr sent = sent_.get();
    unsigned long long count = numbers();
    unsigned rank = request_.rank, seed = static_cast<unsigned>(seed_);
    void* parameters[] = {&sent, &count, &rank, &seed};
    launch(fill_, parameters);
  }

 private:
  uint64_t numbers() const { return request_.bytes / sizeof(float); }

  void launch(abi::CUfunction kernel, void** parameters) const {
    GVB_CALL(session_.cuda, "preparing or checking sums", cuLaunchKernel, kernel, blocks_, 1, 1, kDataThreads, 1, 1, 0,
             stream_, parameters, nullptr);
  }

  const Module& module_;
  const abi::CUfunction fill_, check_;
  const unsigned blocks_;
  const WordCount counted_;
};

// Of words that say which rank sent them.
class Tags : public CollectiveData {
 public:
  Tags(DeviceSession& session, const CollectivesRequest& request, CUstream stream)
      : CollectiveData(session, request, sent_bytes_of(request), stream),
        writer_(session, stream),
        arrived_(session, stream) {}

  std::string queue(const Ranks& ranks, unsigned operation) const override {
    const Ranks::Numbers what = {sent_.get(), result(operation), part() / sizeof(uint32_t), abi::ncclUint32};
    return is_broadcast() ? ranks.broadcast(what, request_.root, stream_) : ranks.all_gather(what, stream_);
  }

  uint64_t wrong_words() const override {
    uint64_t wrong = 0;
    for (unsigned operation = 0; operation < request_.operations; ++operation) {
      session_.token.check();
      for (unsigned place = 0; place < request_.bytes / part(); ++place)
        wrong += arrived_.wrong_words(result(operation) + place * part(),
                                      pattern_of(is_broadcast() ? request_.root : place), part());
    }
    return wrong;
  }

 protected:
  void write_sent() const override { writer_.write(sent_.get(), pattern_of(request_.rank), part()); }

 private:
  bool is_broadcast() const { return request_.collective == Collective::kBroadcast; }
  size_t part() const { return sent_bytes_of(request_); }
  CopyPattern pattern_of(unsigned rank) const { return CopyPattern(seed_ + rank * kSeedOfRank * part()); }

  const PatternWriter writer_;
  const ArrivalCheck arrived_;
};

}  // namespace

size_t sent_bytes_of(const CollectivesRequest& request) {
  return request.collective == Collective::kAllGather ? request.bytes / request.ranks : request.bytes;
}

CollectiveData::CollectiveData(DeviceSession& session, const CollectivesRequest& request, size_t sent_bytes,
                               CUstream stream)
    : session_(session),
      request_(request),
      stream_(stream),
      stride_(stride_of(request.bytes)),
      sent_(make_memory(session.cuda, sent_bytes)),
      results_(make_memory(session.cuda, request.operations * stride_)) {}

size_t CollectiveData::stride_of(size_t bytes) {
  return (bytes + kResultAlignment - 1) / kResultAlignment * kResultAlignment;
}

void CollectiveData::prepare(uint64_t seed) {
  seed_ = seed;
  write_sent();
  GVB_CALL(session_.cuda, "clearing results", cuMemsetD8Async, results_.get(), kUnwritten,
           request_.operations * stride_, stream_);
}

std::unique_ptr<CollectiveData> make_collective_data(DeviceSession& session, const CollectivesRequest& request,
                                                     CUstream stream) {
  if (request.collective == Collective::kAllReduce) return std::make_unique<Sums>(session, request, stream);
  return std::make_unique<Tags>(session, request, stream);
}

}  // namespace gvb

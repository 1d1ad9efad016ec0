#include "bench/work_unit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/secret.h"
#include "bench/blocks.h"
#include "bench/work_inputs.h"
#include "kernels/ptx_file.h"

namespace gvb {

namespace {

constexpr unsigned kSmallKernels = 64, kSmallWords = 1024;
constexpr size_t kSmallBytes = size_t{kSmallKernels} * kSmallWords * sizeof(uint32_t);
constexpr unsigned kSide = Factors::kSide;
constexpr unsigned kProductRows = 64;  // of C are read back: 1 MiB together with the other results
constexpr size_t kProductBytes = size_t{kProductRows} * kSide * sizeof(float);
constexpr size_t kResultBytes = kProductBytes + AttentionInputs::kBytes + kSmallBytes;
static_assert(kResultBytes == size_t{1} << 20);
constexpr unsigned kAllocations = 8;
constexpr size_t kAllocationBytes = size_t{2} << 20;
constexpr float kUnitTolerance = 1e-4f;
// NaN on the device, another pattern on the host, so that a missing write can be attributed.
constexpr uint32_t kDevicePoison = 0xffffffff, kHostPoison = 0xfefefefe;
constexpr unsigned kUnitsPerAudit = 8;

std::string reason_for(const char* launched, uint32_t bits) {
  if (bits == kHostPoison) return "cuMemcpyDtoH reported success but copied nothing";
  if (bits == kDevicePoison) return std::string(launched) + " was launched successfully but wrote nothing";
  return "it is wrong, or left over from other inputs";
}

[[noreturn]] void fail(const std::string& stage, const std::string& why) {
  throw Failure(FailureKind::kInvalidResult,
                "a call reported success without doing its work: " + stage + ": " + why + ".");
}

class Unit {
 public:
  explicit Unit(DeviceSession& session)
      : session_(session),
        cuda_(session.cuda),
        random_(secret()),
        module_(cuda_, ptx_file("work").c_str()),
        gemm_(module_.function("gvb_gemm")),
        attention_(module_.function("gvb_attention")),
        small_(session.module.function("gvb_mix")),
        factors_(cuda_, random_),
        heads_(cuda_, random_),
        results_(cuda_, kResultBytes),
        ab_(make_memory(cuda_, 2 * Factors::kBytes)),
        c_(make_memory(cuda_, Factors::kMatrix * sizeof(float))),
        attended_(make_memory(cuda_, AttentionInputs::kBytes)),
        words_(make_memory(cuda_, kSmallBytes)) {}

  // Untimed: clears what the last unit left and chooses other inputs for the next one.
  void prepare() {
    window_ = factors_.other_than(window_, random_);
    head_ = heads_.other_than(head_, random_);
    first_row_ = std::uniform_int_distribution<unsigned>(0, kSide - kProductRows)(random_);
    seed_ = static_cast<unsigned>(random_());
    std::memset(results_.host(), static_cast<uint8_t>(kHostPoison), kResultBytes);
    poison(ab_, 2 * Factors::kBytes);
    poison(c_, Factors::kMatrix * sizeof(float));
    poison(attended_, AttentionInputs::kBytes);
    poison(words_, kSmallBytes);
    GVB_CALL(cuda_, "waiting for cleared outputs", cuCtxSynchronize);
  }

  // Whether the next unit's blocks are written and read back; random, so that no layer can predict it.
  bool draw_audit() { return random_() % kUnitsPerAudit == 0; }

  void run(bool audited) {
    GVB_CALL(cuda_, "copying a factor", cuMemcpyHtoD_v2, ab_.get(), factors_.a(window_), Factors::kBytes);
    GVB_CALL(cuda_, "copying a factor", cuMemcpyHtoD_v2, ab_.get() + Factors::kBytes, factors_.b(window_),
             Factors::kBytes);
    multiply();
    attend();
    for (unsigned i = 0; i < kSmallKernels; ++i) launch_small(i);
    allocate_and_free(audited);
    read("reading the product", 0, c_.get() + size_t{first_row_} * kSide * sizeof(float), kProductBytes);
    read("reading the attention", kProductBytes, attended_.get(), AttentionInputs::kBytes);
    read("reading the small kernels' words", kProductBytes + AttentionInputs::kBytes, words_.get(), kSmallBytes);
  }

  void check() const {
    check_blocks();
    check_product();
    check_attention();
    check_words();
  }

 private:
  void poison(const DeviceMemory& memory, size_t bytes) {
    GVB_CALL(cuda_, "clearing an output", cuMemsetD32_v2, memory.get(), kDevicePoison, bytes / sizeof(uint32_t));
  }

  void multiply() {
    abi::CUdeviceptr a = ab_.get(), b = ab_.get() + Factors::kBytes, c = c_.get();
    unsigned side = kSide;
    void* parameters[] = {&a, &b, &c, &side};
    launch(gemm_, kSide / 64, kSide / 64, 128, parameters);
  }

  void attend() {
    abi::CUdeviceptr queries = heads_.queries(head_), keys = heads_.keys(head_), values = heads_.values(head_),
                     out = attended_.get();
    unsigned tokens = AttentionInputs::kTokens;
    void* parameters[] = {&queries, &keys, &values, &out, &tokens};
    launch(attention_, AttentionInputs::kHeads, 1, 256, parameters);
  }

  // Each writes words of its own.
  void launch_small(unsigned i) {
    abi::CUdeviceptr words = words_.get() + size_t{i} * kSmallWords * sizeof(uint32_t);
    unsigned count = kSmallWords, seed = seed_ + i;
    void* parameters[] = {&words, &count, &seed};
    launch(small_, 4, 1, 256, parameters);
  }

  void launch(abi::CUfunction kernel, unsigned columns, unsigned rows, unsigned threads, void** parameters) {
    GVB_CALL(cuda_, "launching a kernel of the work unit", cuLaunchKernel, kernel, columns, rows, 1, threads, 1, 1, 0,
             nullptr, parameters, nullptr);
  }

  void allocate_and_free(bool audited) {
    for (abi::CUdeviceptr& block : blocks_)
      GVB_CALL(cuda_, "allocating in the work unit", cuMemAlloc_v2, &block, kAllocationBytes);
    if (audited)
      for (const abi::CUdeviceptr block : blocks_) verify_block(session_.cuda, block, kAllocationBytes, nullptr);
    for (const abi::CUdeviceptr block : blocks_) GVB_CALL(cuda_, "freeing in the work unit", cuMemFree_v2, block);
  }

  void read(const char* attempt, size_t offset, abi::CUdeviceptr from, size_t bytes) {
    GVB_CALL(cuda_, attempt, cuMemcpyDtoH_v2, static_cast<char*>(results_.host()) + offset, from, bytes);
  }

  template <class Value>
  Value result(size_t offset, size_t index) const {
    return reinterpret_cast<const Value*>(static_cast<const char*>(results_.host()) + offset)[index];
  }

  void check_blocks() const { check_disjoint({blocks_.begin(), blocks_.end()}, kAllocationBytes); }

  void check_product() const {
    for (size_t i = 0; i < kProductBytes / sizeof(float); ++i) {
      const auto row = first_row_ + static_cast<unsigned>(i / kSide);
      const auto value = result<float>(0, i);
      if (value == factors_.product(window_, row, static_cast<unsigned>(i % kSide))) continue;
      const auto bits = result<uint32_t>(0, i);
      const bool from_poison = std::isnan(value) && bits != kDevicePoison;
      fail("the matrix product",
           from_poison ? "cuMemcpyHtoD reported success but its factors were not there" : reason_for("gvb_gemm", bits));
    }
  }

  void check_attention() const {
    for (size_t i = 0; i < AttentionInputs::kBytes / sizeof(float); ++i) {
      const float difference = result<float>(kProductBytes, i) - heads_.result(head_, i);
      if (!(std::abs(difference) <= kUnitTolerance))
        fail("the attention", reason_for("gvb_attention", result<uint32_t>(kProductBytes, i)));
    }
  }

  void check_words() const {
    for (unsigned i = 0; i < kSmallKernels * kSmallWords; ++i) {
      const auto word = result<uint32_t>(kProductBytes + AttentionInputs::kBytes, i);
      const unsigned kernel = i / kSmallWords;
      if (word != (i % kSmallWords + seed_ + kernel) * 2654435761u)
        fail("small kernel " + std::to_string(kernel + 1) + " of " + std::to_string(kSmallKernels),
             reason_for("gvb_mix", word));
    }
  }

  DeviceSession& session_;
  const Cuda& cuda_;
  std::mt19937_64 random_;
  const Module module_;
  const abi::CUfunction gemm_, attention_, small_;
  const Factors factors_;
  const AttentionInputs heads_;
  const MappedMemory results_;
  const DeviceMemory ab_, c_, attended_, words_;
  std::array<abi::CUdeviceptr, kAllocations> blocks_{};
  // The current unit's.
  Factors::Window window_{0, 0};
  unsigned head_ = 0, first_row_ = 0, seed_ = 0;
};

// Returns its duration in ns.
double run_and_check(Unit& unit, bool audited) {
  unit.prepare();
  const int64_t began = now_ns();
  unit.run(audited);
  const int64_t ended = now_ns();
  unit.check();
  return static_cast<double>(ended - began);
}

}  // namespace

Work measure_work(DeviceSession& session, const WorkRequest& request) {
  Unit unit(session);
  const int64_t warm = now_ns() + int64_t{request.warmup_ms} * 1'000'000;
  run_and_check(unit, true);
  while (now_ns() < warm) {
    session.token.check();
    run_and_check(unit, false);
  }
  Work work;
  const int64_t until = now_ns() + int64_t{request.window_ms} * 1'000'000;
  while (now_ns() < until || work.unit_ns.empty()) {
    session.token.check();
    const bool audited = unit.draw_audit();
    const double took = run_and_check(unit, audited);
    if (audited)
      ++work.untimed_units;
    else
      work.unit_ns.push_back(took);
  }
  return work;
}

}  // namespace gvb

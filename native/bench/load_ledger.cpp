#include "bench/load_ledger.h"

#include <string>

namespace gvb {

LoadLedger::LoadLedger(size_t kernels, const Cuda& cuda, uint64_t bins)
    : cuda_(cuda),
      kernels_(kernels),
      bins_(bins),
      memory_(make_memory(cuda, sizeof(LedgerHead) + bins * sizeof(uint64_t))),
      scratch_(make_memory(cuda, kernels * sizeof(KernelSpan))),
      host_(cuda, stamps_at(kernels)) {}

void LoadLedger::open(uint64_t first_bin, uint64_t bin_ns) const {
  host_.store<uint32_t>(0);
  for (size_t kernel = 0; kernel < kernels_; ++kernel) clear(kernel);
  const LedgerHead head{first_bin, bin_ns, bins_, 0, {}, 0};
  GVB_CALL(cuda_, "clearing the bins of a load", cuMemsetD8_v2, memory_.get(), 0,
           sizeof head + bins_ * sizeof(uint64_t));
  GVB_CALL(cuda_, "clearing the bins of a load", cuMemcpyHtoD_v2, memory_.get(), &head, sizeof head);
  GVB_CALL(cuda_, "clearing the stamps of a load", cuMemsetD8_v2, scratch_.get(), 0, kernels_ * sizeof(KernelSpan));
  // Launches use a stream that does not wait for the default stream.
  GVB_CALL(cuda_, "clearing the stamps of a load", cuCtxSynchronize);
}

LedgerContents LoadLedger::read() const {
  LedgerContents contents{{}, std::vector<uint64_t>(bins_)};
  GVB_CALL(cuda_, "reading the bins of a load", cuMemcpyDtoH_v2, &contents.head, memory_.get(), sizeof(LedgerHead));
  GVB_CALL(cuda_, "reading the bins of a load", cuMemcpyDtoH_v2, contents.bins.data(),
           memory_.get() + sizeof(LedgerHead), bins_ * sizeof(uint64_t));
  return contents;
}

void LoadLedger::clear(size_t kernel) const {
  host_.store<uint64_t>(0, stamps_at(kernel));
  host_.store<uint64_t>(0, stamps_at(kernel) + sizeof(uint64_t));
}

KernelSpan LoadLedger::span(size_t kernel) const {
  const auto ended = host_.load<uint64_t>(stamps_at(kernel) + sizeof(uint64_t));
  return {host_.load<uint64_t>(stamps_at(kernel)), ended};
}

KernelSpan LoadLedger::ran(size_t kernel) const {
  const KernelSpan ran = span(kernel);
  if (ran.began != 0 && ran.ended >= ran.began) return ran;
  throw Failure(FailureKind::kInvalidResult,
                "a call reported success without doing its work: a kernel of a load stamped " +
                    std::to_string(ran.began) + " as its start and " + std::to_string(ran.ended) + " as its end.");
}

}  // namespace gvb

#include "bench/compute_share.h"

#include <algorithm>
#include <string>

#include "base/clock.h"
#include "bench/full_blocks.h"

namespace gvb {

namespace {

// A minute of 1 ms kernels, in 1 MiB of stamps.
constexpr size_t kMostLaunches = 65536;
constexpr unsigned kShareWaves = 500;

unsigned default_blocks(const DeviceSession& session, const FullBlocks& full) {
  int multiprocessors = 0;
  GVB_CALL(session.cuda, "counting multiprocessors", cuDeviceGetAttribute, &multiprocessors,
           abi::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, session.device);
  return kShareWaves * full.each * static_cast<unsigned>(multiprocessors);
}

// Launches that a layer may delay without limit: events only bound how many are unfinished and time nothing.
class Occupation {
 public:
  Occupation(DeviceSession& session, const ComputeShareRequest& request)
      : cuda_(session.cuda),
        kernel_(session.module.function("gvb_occupy")),
        full_(full_blocks(session, kernel_)),
        blocks_(request.blocks ? request.blocks : default_blocks(session, full_)),
        threads_(request.threads_per_block ? request.threads_per_block : full_.threads),
        spin_ns_(request.spin_ns),
        stamps_(make_memory(cuda_, kMostLaunches * sizeof(Occupied))),
        stream_(make_stream(cuda_)) {
    for (unsigned i = 0; i < request.in_flight; ++i) finished_.push_back(make_event(cuda_));
    // The memset runs on the default stream, for which the kernels' stream does not wait.
    GVB_CALL(cuda_, "clearing the stamps", cuMemsetD8_v2, stamps_.get(), 0, kMostLaunches * sizeof(Occupied));
    GVB_CALL(cuda_, "clearing the stamps", cuCtxSynchronize);
  }
  // Kernels that still run write to the stamps.
  ~Occupation() { cuda_.try_call(cuda_.api.cuStreamSynchronize, stream_.get()); }
  Occupation(const Occupation&) = delete;
  Occupation& operator=(const Occupation&) = delete;

  void launch() {
    const Event& finished = finished_[launches_ % finished_.size()];
    if (launches_ >= finished_.size()) GVB_CALL(cuda_, "waiting for a kernel", cuEventSynchronize, finished.get());
    abi::CUdeviceptr stamps = stamps_.get() + launches_ * sizeof(Occupied);
    unsigned long long spin_ns = spin_ns_;
    abi::CUdeviceptr not_counted = 0;  // not needed: every stamp is checked
    void* parameters[] = {&stamps, &spin_ns, &not_counted};
    GVB_CALL(cuda_, "occupying the device", cuLaunchKernel, kernel_, blocks_, 1, 1, threads_, 1, 1, 0, stream_.get(),
             parameters, nullptr);
    ++launches_;
    GVB_CALL(cuda_, "recording an event", cuEventRecord, finished.get(), stream_.get());
  }

  bool full() const { return launches_ == kMostLaunches; }

  std::vector<Occupied> finish() const {
    std::vector<Occupied> kernels(launches_);
    GVB_CALL(cuda_, "waiting for the last kernel", cuStreamSynchronize, stream_.get());
    GVB_CALL(cuda_, "reading the stamps", cuMemcpyDtoH_v2, kernels.data(), stamps_.get(),
             kernels.size() * sizeof(Occupied));
    return kernels;
  }

 private:
  const Cuda& cuda_;
  const abi::CUfunction kernel_;
  const FullBlocks full_;
  const unsigned blocks_;
  const unsigned threads_;
  const uint64_t spin_ns_;
  const DeviceMemory stamps_;
  const Stream stream_;
  std::vector<Event> finished_;
  size_t launches_ = 0;
};

void check_stamps(const std::vector<Occupied>& kernels) {
  Occupied before{0, 0};
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Occupied& kernel = kernels[i];
    // Kernels of one stream run one after the other.
    const bool ordered = kernel.start >= before.start && kernel.end >= before.end && kernel.end >= kernel.start;
    if (kernel.start == 0 || kernel.end == 0 || !ordered)
      throw Failure(FailureKind::kInvalidResult, "Expected kernel " + std::to_string(i) +
                                                     " to stamp a start, then an end, neither before those of " +
                                                     "the kernel before, but received " + std::to_string(kernel.start) +
                                                     " and " + std::to_string(kernel.end) + ".");
    before = kernel;
  }
}

double length(const Occupied& kernel) { return static_cast<double>(kernel.end - kernel.start); }

double median_length(const std::vector<Occupied>& kernels) {
  std::vector<double> lengths;
  lengths.reserve(kernels.size());
  for (const Occupied& kernel : kernels) lengths.push_back(length(kernel));
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  if (lengths.size() % 2 == 1) return *middle;
  return (*std::max_element(lengths.begin(), middle) + *middle) / 2;
}

std::vector<double> shares_of_windows(const std::vector<Occupied>& kernels, double bin_ns) {
  // Relative to the first start: a double cannot hold nanoseconds of absolute device times.
  const uint64_t origin = kernels.front().start;
  std::vector<double> shares(static_cast<size_t>(static_cast<double>(kernels.back().end - origin) / bin_ns));
  for (const Occupied& kernel : kernels) {
    const auto start = static_cast<double>(kernel.start - origin);
    const auto end = static_cast<double>(kernel.end - origin);
    for (auto i = static_cast<size_t>(start / bin_ns); i < shares.size(); ++i) {
      const double from = static_cast<double>(i) * bin_ns;
      if (from >= end) break;
      shares[i] += (std::min(end, from + bin_ns) - std::max(start, from)) / bin_ns;
    }
  }
  return shares;
}

}  // namespace

ComputeShare share_of(const std::vector<Occupied>& kernels, double bin_ns) {
  check_stamps(kernels);
  double busy = 0;
  for (const Occupied& kernel : kernels) busy += length(kernel);
  const Occupied whole{kernels.front().start, kernels.back().end};
  if (length(whole) == 0)
    throw Failure(FailureKind::kInvalidResult,
                  "Expected kernels that last longer than a step of the device's timer: ask for a longer spin.");
  ComputeShare share;
  share.launches = kernels.size();
  share.kernel_ns = median_length(kernels);
  share.busy_share = busy / length(whole);
  share.bins = shares_of_windows(kernels, bin_ns);
  return share;
}

ComputeShare measure_compute_share(DeviceSession& session, const ComputeShareRequest& request) {
  Occupation occupation(session, request);
  const int64_t until = now_ns() + int64_t{request.duration_ms} * 1'000'000;
  do {
    session.token.check();
    if (occupation.full())
      throw Failure(FailureKind::kInvalidResult,
                    "Expected kernels so long that " + std::to_string(kMostLaunches) + " of them last " +
                        std::to_string(request.duration_ms) +
                        " ms, but they were over sooner: ask for more blocks or a longer spin.");
    occupation.launch();
  } while (now_ns() < until);
  return share_of(occupation.finish(), request.bin_ms * 1e6);
}

}  // namespace gvb

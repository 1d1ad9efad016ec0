#include "sim/nccl/communicator.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/llm/number_bits.h"
#include "sim/clock.h"
#include "sim/nccl/nccl_library.h"
#include "sim/settings.h"

namespace gvb::sim {
namespace {

// Waiting limit for a busy rank; one that takes longer has died or failed.
constexpr int64_t kPatience = 5'000'000'000;
constexpr int kYields = 200;
constexpr int64_t kNap = 20'000;
constexpr unsigned char kNoNumber = 0xff;

template <class Done>
bool wait_for(const Done& done) {
  const int64_t late = raw_now() + kPatience;
  for (int tries = 0; !done(); ++tries) {
    if (raw_now() > late) return false;
    if (tries < kYields)
      sched_yield();
    else
      nap_ns(kNap);
  }
  return true;
}

Number number_of(abi::ncclDataType_t type) {
  if (type == abi::ncclFloat16) return Number::kF16;
  return type == abi::ncclBfloat16 ? Number::kBf16 : Number::kF32;
}

template <class Function>
bool found(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

}  // namespace

const SimulatedDriver* simulated_driver() {
  static const SimulatedDriver* const driver = [] {
    auto* its = new SimulatedDriver;
    const bool there = found(kJoinCollectives, &its->join) && found(kEndOfStream, &its->end_of_stream) &&
                       found(kSubmitCollective, &its->submit);
    return there ? its : nullptr;
  }();
  return driver;
}

size_t bytes_of(abi::ncclDataType_t type) {
  switch (type) {
    case abi::ncclFloat16:
    case abi::ncclBfloat16:
      return 2;
    case abi::ncclFloat32:
      return 4;
  }
  return 0;
}

abi::ncclResult_t Communicator::join() {
  const int card = simulated_driver()->join();
  if (card < 0) return fail(abi::ncclUnhandledCudaError, "the calling thread has no context");
  Meeting& meeting = *meeting_;
  meeting->cards[rank_].store(card + 1);
  meeting->joined.fetch_add(1);
  while (meeting->joined.load() < ranks_) nap_ns(kNap);
  for (int one = 0; one < ranks_; ++one)
    for (int other = 0; other < one; ++other)
      if (meeting->cards[one].load() == meeting->cards[other].load())
        return fail(abi::ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(other) + " and rank " +
                                               std::to_string(one) + " both on one CUDA device");
  return abi::ncclSuccess;
}

// All ranks begin together, once the preceding work of the last one is over, and take as long as the slowest.
bool Communicator::meet(int64_t* start, double* nanoseconds) {
  Arrival* arrivals = (*meeting_)->arrivals[collectives_ % 2];
  Arrival& own = arrivals[rank_];
  own.end.store(*start);
  own.nanoseconds.store(*nanoseconds);
  own.collective.store(collectives_);
  for (int rank = 0; rank < ranks_; ++rank) {
    const Arrival& one = arrivals[rank];
    if (!wait_for([&] { return one.collective.load() >= collectives_; })) return false;
    *start = std::max(*start, one.end.load());
    *nanoseconds = std::max(*nanoseconds, one.nanoseconds.load());
  }
  return true;
}

struct Communicator::Sum {
  Communicator* communicator;
  AllReduce what;
  uint64_t collective;
};

abi::ncclResult_t Communicator::all_reduce(const AllReduce& what, abi::CUstream stream) {
  const SimulatedDriver& driver = *simulated_driver();
  const size_t bytes = what.count * bytes_of(what.type);
  if (bytes > kMostBytes) return fail(abi::ncclInvalidArgument, "not simulated: more than 64 MiB");
  const Settings& its = settings();
  const double part = 2.0 * (ranks_ - 1) / ranks_;
  const int card = (*meeting_)->cards[rank_].load() - 1;
  double nanoseconds = its.nccl_us * 1e3 + static_cast<double>(bytes) * part / card_settings(card).link_gbs;
  int64_t start = 0;
  if (driver.end_of_stream(stream, &start) != abi::CUDA_SUCCESS)
    return fail(abi::ncclUnhandledCudaError, "the stream's work failed");
  ++collectives_;
  if (!meet(&start, &nanoseconds)) return fail(abi::ncclRemoteError, "a rank did not join a collective");
  const auto run = [](void* state) {
    const auto& sum = *static_cast<const Sum*>(state);
    sum.communicator->add_up(sum.what, sum.collective);
  };
  const auto drop = [](void* state) { delete static_cast<Sum*>(state); };
  const CollectiveWork work = {what.from,   what.to, bytes, start,
                               nanoseconds, run,     drop,  new Sum{this, what, collectives_}};
  if (driver.submit(stream, &work) != abi::CUDA_SUCCESS)
    return fail(abi::ncclUnhandledCudaError, "a buffer is not device memory");
  return abi::ncclSuccess;
}

// False if a rank has not read the previous contents of this place in time.
bool Communicator::publish(const AllReduce& what, uint64_t collective) {
  const uint64_t place = collective % kPlaces;
  Part* parts = (*meeting_)->parts[place];
  const uint64_t before = parts[rank_].published.load();
  for (int rank = 0; rank < ranks_; ++rank)
    if (!wait_for([&] { return parts[rank].taken.load() >= before; })) return false;
  std::memcpy(meeting_->part(place, rank_), what.from, what.count * bytes_of(what.type));
  parts[rank_].published.store(collective);
  return true;
}

// Adds in the order of the ranks, so that all ranks get the same bits.
void Communicator::add_up(const AllReduce& what, uint64_t collective) {
  const size_t bytes = what.count * bytes_of(what.type);
  if (settings().nccl_skip != 0) {
    std::memmove(what.to, what.from, bytes);
    return;
  }
  const uint64_t place = collective % kPlaces;
  Part* parts = (*meeting_)->parts[place];
  // A communicator that failed stays failed.
  bool all = error() == abi::ncclSuccess && publish(what, collective);
  for (int rank = 0; rank < ranks_ && all; ++rank)
    all = wait_for([&] { return parts[rank].published.load() >= collective; }) &&
          parts[rank].published.load() == collective;
  if (!all) {
    error_.store(abi::ncclRemoteError);
    std::memset(what.to, kNoNumber, bytes);
    return;
  }
  const Number number = number_of(what.type);
  for (size_t i = 0; i < what.count; ++i) {
    float sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += load_number(meeting_->part(place, rank), i, number);
    store_number(what.to, i, sum, number);
  }
  parts[rank_].taken.store(collective);
}

}  // namespace gvb::sim

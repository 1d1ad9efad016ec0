#include "sim/nccl/communicator.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/llm/number_bits.h"
#include "sim/clock.h"
#include "sim/nccl/nccl_library.h"
#include "sim/recorded_call.h"
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
    case abi::ncclUint32:
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

size_t Communicator::sent_bytes(const Collective& what) const {
  const bool sends = what.kind != Kind::kBroadcast || what.root == rank_;
  return sends ? what.count * bytes_of(what.type) : 0;
}

size_t Communicator::result_bytes(const Collective& what) const {
  const size_t parts = what.kind == Kind::kAllGather ? static_cast<size_t>(ranks_) : 1;
  return parts * what.count * bytes_of(what.type);
}

// What passes the link of a rank in one direction, as in a ring.
double Communicator::nanoseconds(const Collective& what) const {
  const double others = static_cast<double>(ranks_ - 1) / ranks_;
  const double part = what.kind == Kind::kAllReduce ? 2 * others : what.kind == Kind::kAllGather ? others : 1;
  const auto card = [&](int rank) { return card_settings((*meeting_)->cards[rank % ranks_].load() - 1); };
  const double gbs = gbs_between(card(rank_), card(rank_ + 1));
  return settings().nccl_us * 1e3 + static_cast<double>(result_bytes(what)) * part / gbs;
}

struct Communicator::Pending {
  Communicator* communicator;
  Collective what;
  uint64_t number;
  std::shared_ptr<LateTimes> times;  // null if the call is not recorded
};

abi::ncclResult_t Communicator::collective(const Collective& what, abi::CUstream stream) {
  const SimulatedDriver& driver = *simulated_driver();
  if (what.count * bytes_of(what.type) > kMostBytes)
    return fail(abi::ncclInvalidArgument, "not simulated: more than 64 MiB of a rank");
  double duration = nanoseconds(what);
  int64_t start = 0;
  if (driver.end_of_stream(stream, &start) != abi::CUDA_SUCCESS)
    return fail(abi::ncclUnhandledCudaError, "the stream's work failed");
  ++collectives_;
  if (!meet(&start, &duration)) return fail(abi::ncclRemoteError, "a rank did not join a collective");
  RecordedCall::of_bytes(result_bytes(what));
  const auto run = [](void* state) {
    const auto& pending = *static_cast<const Pending*>(state);
    pending.communicator->compute(pending.what, pending.number);
  };
  const auto placed = [](void* state, int64_t begins, int64_t ends) {
    if (const auto& times = static_cast<const Pending*>(state)->times) times->add(begins, ends);
  };
  const auto drop = [](void* state) { delete static_cast<Pending*>(state); };
  const CollectiveWork work = {what.from, sent_bytes(what),
                               what.to,   result_bytes(what),
                               start,     duration,
                               run,       placed,
                               drop,      new Pending{this, what, collectives_, RecordedCall::of_device()}};
  if (driver.submit(stream, &work) != abi::CUDA_SUCCESS)
    return fail(abi::ncclUnhandledCudaError, "a buffer is not device memory");
  return abi::ncclSuccess;
}

// False if a rank has not read the previous contents of this place in time.
bool Communicator::publish(const Collective& what, uint64_t number) {
  const uint64_t place = number % kPlaces;
  Part* parts = (*meeting_)->parts[place];
  const uint64_t before = parts[rank_].published.load();
  for (int rank = 0; rank < ranks_; ++rank)
    if (!wait_for([&] { return parts[rank].taken.load() >= before; })) return false;
  std::memcpy(meeting_->part(place, rank_), what.from, sent_bytes(what));
  parts[rank_].published.store(number);
  return true;
}

bool Communicator::others_published(uint64_t number) {
  const Part* parts = (*meeting_)->parts[number % kPlaces];
  return std::all_of(parts, parts + ranks_, [number](const Part& part) {
    return wait_for([&] { return part.published.load() >= number; }) && part.published.load() == number;
  });
}

// In the order of the ranks, so that all ranks get the same bits.
void Communicator::add_up(const Collective& what, uint64_t place) const {
  const Number number = number_of(what.type);
  const auto store = [&](size_t i, float sum) { store_number(what.to, i, sum, number); };
  float sum = 0;
  for (size_t i = 0; i < what.count; ++i) {
    sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += load_number(meeting_->part(place, rank), i, number);
    store(i, sum);
  }
  if (settings().nccl_off != 0) store(what.count - 1, sum + 1);
}

void Communicator::compute(const Collective& what, uint64_t number) {
  const size_t own = sent_bytes(what), part = what.count * bytes_of(what.type);
  const bool gathers = what.kind == Kind::kAllGather;
  auto* const to = static_cast<char*>(what.to);
  if (settings().nccl_skip != 0) {
    std::memmove(gathers ? to + static_cast<size_t>(rank_) * part : to, what.from, own);
    return;
  }
  const uint64_t place = number % kPlaces;
  // A communicator that failed stays failed.
  if (error() != abi::ncclSuccess || !publish(what, number) || !others_published(number)) {
    error_.store(abi::ncclRemoteError);
    std::memset(to, kNoNumber, result_bytes(what));
    return;
  }
  if (what.kind == Kind::kAllReduce) add_up(what, place);
  if (what.kind == Kind::kBroadcast) std::memcpy(to, meeting_->part(place, what.root), part);
  for (int rank = 0; rank < ranks_ && gathers; ++rank)
    std::memcpy(to + static_cast<size_t>(rank) * part, meeting_->part(place, rank), part);
  (*meeting_)->parts[place][rank_].taken.store(number);
}

}  // namespace gvb::sim

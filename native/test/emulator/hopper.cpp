#include "test/emulator/hopper.h"

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "sim/work/tensor_map.h"

namespace gvb::emulator {
namespace {

// The word of a barrier in shared memory.
struct BarrierState {
  uint64_t magic : 15, phase : 1, expected : 12, missing : 12;
  int64_t bytes : 24;
};
static_assert(sizeof(BarrierState) == 8);
constexpr uint64_t kMagic = 0x2b62;

BarrierState& barrier_at(uint32_t address) {
  auto& state = *reinterpret_cast<BarrierState*>(shared_memory(address, 8, 8));
  if (state.magic != kMagic) fail("an mbarrier that was not initialised");
  return state;
}

void end_phase_if_complete(BarrierState& state) {
  if (state.missing != 0 || state.bytes != 0) return;
  state.missing = state.expected;
  state.phase ^= 1;
}

void arrive_with(uint32_t address, int64_t bytes) {
  BarrierState& state = barrier_at(address);
  if (state.missing == 0) fail("an mbarrier has more arrivals in a phase than it was initialised for");
  state.bytes += bytes;
  --state.missing;
  end_phase_if_complete(state);
}

void bytes_have_come(uint32_t address, unsigned bytes) {
  BarrierState& state = barrier_at(address);
  state.bytes -= bytes;
  end_phase_if_complete(state);
}

// The 128-byte swizzle: bits 4 to 6 of an address are XORed with bits 7 to 9.
uint32_t swizzled_address(uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

struct Box {
  sim::TensorDescription tensor;
  int64_t at[sim::kMostDimensions] = {};

  Box(const hopper::TensorMap& map, std::initializer_list<int> coordinates) {
    abi::CUtensorMap encoded;
    std::memcpy(&encoded, &map, sizeof encoded);
    const sim::TensorDescription* described = sim::described_by(encoded);
    if (described == nullptr) fail("a tensor map that was not encoded");
    tensor = *described;
    if (coordinates.size() != tensor.rank) fail("a tensor map of another rank than the coordinates");
    std::copy(coordinates.begin(), coordinates.end(), at);
  }

  uint32_t bytes() const {
    uint32_t count = tensor.element_bytes;
    for (unsigned i = 0; i < tensor.rank; ++i) count *= tensor.box[i];
    return count;
  }

  // Calls use(place in shared memory, place in the tensor or null) for each element of the box.
  template <class Use>
  void for_each(uint32_t shared, const Use& use) const {
    const uint32_t count = bytes() / tensor.element_bytes;
    for (uint32_t i = 0; i < count; ++i) {
      bool inside = true;
      uint64_t address = tensor.address;
      uint32_t rest = i;
      for (unsigned d = 0; d < tensor.rank; ++d) {
        const int64_t coordinate = at[d] + rest % tensor.box[d];
        rest /= tensor.box[d];
        inside &= coordinate >= 0 && coordinate < int64_t{tensor.dimensions[d]};
        address += static_cast<uint64_t>(coordinate) * (d == 0 ? tensor.element_bytes : tensor.strides[d - 1]);
      }
      uint32_t place = shared + i * tensor.element_bytes;
      if (tensor.swizzle == abi::CU_TENSOR_MAP_SWIZZLE_128B) place = swizzled_address(place);
      use(shared_memory(place, tensor.element_bytes, 1), inside ? reinterpret_cast<void*>(address) : nullptr);
    }
  }
};

uint32_t checked_tile(const Box& box, uint32_t address) {
  if (address % 128 != 0 || (box.tensor.swizzle != 0 && address % 1024 != 0))
    fail("a tile that is not aligned as its swizzle pattern needs it");
  return address;
}

// The pending multiplications of a warpgroup, which are done in order.
struct Multiplication {
  std::vector<float*> sums;         // by thread
  std::vector<uint32_t> registers;  // four per thread, or none
  WarpgroupMultiply operands;
  uint32_t window;  // the block's shared memory
  bool done = false;
};
using Group = std::deque<std::shared_ptr<Multiplication>>;

struct Warpgroup {
  std::deque<Group> groups;  // the last one is still being filled
  bool fenced = false;
};

std::map<std::pair<const Block*, unsigned>, Warpgroup> warpgroups;

Warpgroup& warpgroup() {
  Warpgroup& own = warpgroups[{&block(), current().rank / kWarpgroup}];
  if (own.groups.empty()) own.groups.emplace_back();
  return own;
}

float decoded(Factor factor, const unsigned char* at) {
  uint16_t half = 0;
  std::memcpy(&half, at, factor == Factor::kE4m3 ? 1 : 2);
  if (factor == Factor::kE4m3) return decode<E4m3>(half);
  return factor == Factor::kF16 ? decode<F16>(half) : decode<Bf16>(half);
}

// The address of element (outer, k) of a described tile: `outer` counts M or N. PTX ISA, "Shared Memory Matrix Layout".
uint32_t element_address(uint64_t descriptor, unsigned outer, unsigned k, unsigned bytes, bool transposed) {
  const auto start = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
  const auto leading = static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4;
  const auto stride = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  if (descriptor >> 62 != 1) fail("a matrix descriptor without the 128-byte swizzle");
  if (!transposed) return swizzled_address(start + outer / 8 * stride + outer % 8 * 128 + k * bytes);
  return swizzled_address(start + outer / 64 * leading + k / 8 * stride + k % 8 * 128 + outer % 64 * bytes);
}

void execute(Multiplication& work) {
  if (work.done) return;
  work.done = true;
  const WarpgroupMultiply& operands = work.operands;
  const unsigned bytes = operands.factor == Factor::kE4m3 ? 1 : 2, depth = 32 / bytes, columns = operands.columns;
  const auto tile = [&](uint64_t descriptor, unsigned outer, unsigned k, bool transposed) {
    const uint32_t at = work.window + element_address(descriptor, outer, k, bytes, transposed);
    return decoded(operands.factor, shared_memory(at, bytes, bytes));
  };
  std::vector<float> a(64 * depth), b(columns * depth);
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned k = 0; k < depth; ++k) {
      if (operands.registers == nullptr) {
        a[row * depth + k] = tile(operands.a, row, k, false);
        continue;
      }
      // Like mma.m16n8k16 (k32 with 8 bits): four bytes of K per register and thread.
      const unsigned in_warp = row % 16, byte = k * bytes;
      const unsigned thread = row / 16 * kWarp + in_warp % 8 * 4 + byte % 16 / 4;
      const unsigned which = in_warp / 8 + byte / 16 * 2;
      const auto* from = reinterpret_cast<const unsigned char*>(&work.registers[thread * 4 + which]);
      a[row * depth + k] = decoded(operands.factor, from + byte % 4);
    }
  for (unsigned column = 0; column < columns; ++column)
    for (unsigned k = 0; k < depth; ++k) b[column * depth + k] = tile(operands.b, column, k, operands.transpose_b);
  for (unsigned thread = 0; thread < kWarpgroup; ++thread)
    for (unsigned i = 0; i < columns / 2; ++i) {
      const unsigned row = thread / kWarp * 16 + thread % kWarp / 4 + i / 2 % 2 * 8;
      const unsigned column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
      float& place = work.sums[thread][i];
      place = operands.add ? place + sum : sum;
    }
}

void finish(Warpgroup& own, size_t groups_left) {
  while (own.groups.size() > groups_left + 1) {
    for (const auto& work : own.groups.front()) execute(*work);
    own.groups.pop_front();
  }
}

// Does the work at a random moment between its start and the wait for it, if all earlier work is done.
void run_early(Warpgroup& own, const std::shared_ptr<Multiplication>& work) {
  for (const Group& group : own.groups)
    for (const auto& earlier : group) {
      if (earlier == work) return execute(*work);
      if (!earlier->done) return;
    }
}

// Work that is not done early is done in the wait for it, or never if that is missing.
constexpr unsigned kOneInIsLate = 4;

std::map<const Thread*, std::deque<std::vector<Work>>> tensor_stores;

}  // namespace

void barrier_init(uint32_t barrier, unsigned arrivals) {
  BarrierState state = {};
  state.magic = kMagic;
  state.expected = state.missing = arrivals & 0xfff;
  if (arrivals == 0 || arrivals > 0xfff) fail("an mbarrier for no threads or too many");
  std::memcpy(shared_memory(barrier, 8, 8), &state, sizeof state);
}

void barrier_arrive(uint32_t barrier) { arrive_with(barrier, 0); }
void barrier_expect(uint32_t barrier, unsigned bytes) { arrive_with(barrier, bytes); }

void barrier_wait(uint32_t barrier, unsigned parity) {
  const BarrierState& state = barrier_at(barrier);
  wait_until([&] { return state.phase != parity; }, "an mbarrier");
}

uint32_t in_block(uint32_t address, unsigned rank) { return address % kSharedWindow + rank * kSharedWindow; }

void tensor_load(uint32_t to, const hopper::TensorMap& map, uint32_t barrier, std::initializer_list<int> at,
                 unsigned short blocks) {
  const Box box(map, at);
  checked_tile(box, to);
  for (unsigned rank = 0; rank < cluster().blocks.size(); ++rank) {
    if (blocks == 0 ? rank != block().rank : (blocks >> rank & 1) == 0) continue;
    const uint32_t target = in_block(to, rank), its_barrier = in_block(barrier, rank);
    later([=] {
      box.for_each(target, [&](unsigned char* shared, const void* global) {
        if (global != nullptr)
          std::memcpy(shared, global, box.tensor.element_bytes);
        else
          std::memset(shared, 0, box.tensor.element_bytes);
      });
      bytes_have_come(its_barrier, box.bytes());
    });
  }
}

void bytes_load(uint32_t to, const void* from, unsigned bytes, uint32_t barrier) {
  if (reinterpret_cast<uintptr_t>(from) % 16 != 0 || bytes % 16 != 0 || to % 16 != 0)
    fail("cp.async.bulk: addresses and bytes that are no multiples of 16");
  unsigned char* target = shared_memory(to, bytes, 16);
  later([=] {
    std::memcpy(target, from, bytes);
    bytes_have_come(barrier, bytes);
  });
}

void tensor_store(const hopper::TensorMap& map, uint32_t from, std::initializer_list<int> at) {
  const Box box(map, at);
  checked_tile(box, from);
  const auto done = std::make_shared<bool>(false);
  const Work store = [=] {
    if (std::exchange(*done, true)) return;
    box.for_each(from, [&](const unsigned char* shared, void* global) {
      if (global != nullptr) std::memcpy(global, shared, box.tensor.element_bytes);
    });
  };
  auto& groups = tensor_stores[&current()];
  if (groups.empty()) groups.emplace_back();
  groups.back().push_back(store);
  if (!cluster().chance(kOneInIsLate)) later(store);
}

void commit_tensor_stores() {
  auto& groups = tensor_stores[&current()];
  if (groups.empty()) groups.emplace_back();
  groups.emplace_back();
}

void wait_tensor_stores(unsigned left) {
  auto& groups = tensor_stores[&current()];
  while (groups.size() > left + 1) {
    for (const Work& store : groups.front()) store();
    groups.pop_front();
  }
}

void store_four(uint32_t row, const uint32_t (&from)[4]) {
  struct Lane {
    unsigned char* row;
    const uint32_t* from;
  } mine = {shared_memory(row, 16, 16), from};
  together(
      kWarp, mine,
      [](Lane* const* lanes) {
        for (unsigned lane = 0; lane < kWarp; ++lane)
          for (unsigned matrix = 0; matrix < 4; ++matrix)
            std::memcpy(lanes[matrix * 8 + lane / 4]->row + lane % 4 * 4, &lanes[lane]->from[matrix], 4);
      },
      "stmatrix");
}

void warpgroup_fence() {
  int nothing = 0;
  together(
      kWarpgroup, nothing, [](int* const*) { warpgroup().fenced = true; }, "wgmma.fence");
}

void warpgroup_multiply(WarpgroupMultiply operands) {
  together(
      kWarpgroup, operands,
      [](WarpgroupMultiply* const* threads) {
        Warpgroup& own = warpgroup();
        if (!own.fenced) fail("wgmma.mma_async without wgmma.fence since the last commit_group");
        const auto work = std::make_shared<Multiplication>();
        work->operands = *threads[0];
        work->window = block().rank * kSharedWindow;
        for (unsigned i = 0; i < kWarpgroup; ++i) {
          if (threads[i]->a != threads[0]->a || threads[i]->b != threads[0]->b || threads[i]->add != threads[0]->add)
            fail("threads of a warpgroup with different operands of wgmma");
          work->sums.push_back(threads[i]->sums);
          if (threads[i]->registers != nullptr)
            work->registers.insert(work->registers.end(), threads[i]->registers, threads[i]->registers + 4);
        }
        own.groups.back().push_back(work);
        if (!cluster().chance(kOneInIsLate)) later([&own, work] { run_early(own, work); });
      },
      "wgmma.mma_async");
}

void warpgroup_commit() {
  int nothing = 0;
  together(
      kWarpgroup, nothing,
      [](int* const*) {
        warpgroup().groups.emplace_back();
        warpgroup().fenced = false;
      },
      "wgmma.commit_group");
}

void warpgroup_wait(unsigned left) {
  int nothing = 0;
  together(
      kWarpgroup, nothing, [left](int* const*) { finish(warpgroup(), left); }, "wgmma.wait_group");
}

void warpgroup_registers(unsigned count) {
  int nothing = 0;
  if (count % 8 != 0 || count < 24 || count > 256) fail("setmaxnreg: a multiple of 8 from 24 to 256");
  together(
      kWarpgroup, nothing, [](int* const*) {}, "setmaxnreg");
}

}  // namespace gvb::emulator

namespace gvb::hopper {

void meet_cluster() {
  static const emulator::Cluster* cluster = nullptr;
  static unsigned arrived = 0;
  static uint64_t round = 0;
  if (std::exchange(cluster, &emulator::cluster()) != &emulator::cluster()) arrived = 0;
  const uint64_t before = round;
  if (++arrived == cluster->blocks.size() * emulator::block().threads.size()) {
    arrived = 0;
    ++round;
  }
  emulator::wait_until([&] { return round != before; }, "the barrier of the cluster");
}

}  // namespace gvb::hopper

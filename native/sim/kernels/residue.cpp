#include "sim/kernels/residue.h"

#include "sim/driver.h"
#include "sim/memory/address_space.h"
#include "sim/memory/residues.h"

namespace gvb::sim {
namespace {

constexpr uint64_t kUnit = 16;
// This much is really written, for processes that share the memory. The rest is only recorded.
constexpr uint64_t kWritten = uint64_t{4} << 20;
constexpr uint64_t kSharedBytes = 48 * 1024, kLocalBytes = 1024, kRegisterBytes = 24 * 16;

struct TagWords {
  uint64_t low, high;
};

uint64_t marked(uint64_t words) {
  constexpr uint32_t kMark = 2654435761u;  // as in residue.cu
  const auto low = static_cast<uint32_t>(words) * kMark, high = static_cast<uint32_t>(words >> 32) * kMark;
  return uint64_t{high} << 32 | low;
}

Mark mark_of(const TagWords& tag) { return {marked(tag.low), marked(tag.high)}; }

Mark mark_at(const Arguments& arguments, size_t index) {
  return {arguments.get<uint64_t>(index), arguments.get<uint64_t>(index + 1)};
}

void count(uint64_t counters, const FoundResidue& found) {
  auto* counts = reinterpret_cast<uint64_t*>(counters);
  counts[0] += found.tagged / kUnit;
  counts[1] += found.other / kUnit;
}

FoundResidue read_through(uint64_t address, uint64_t bytes, const Mark& mark) {
  FoundResidue found;
  for (uint64_t at = address; at < address + bytes; at += kUnit) {
    const TagWords words = *reinterpret_cast<const TagWords*>(at);
    if (mark_of(words) == mark)
      found.tagged += kUnit;
    else if ((words.low | words.high) != 0)
      found.other += kUnit;
  }
  return found;
}

FoundResidue scan(uint64_t address, uint64_t bytes, const Mark& mark) {
  const FoundResidue noted = residue_at(address, bytes, mark);
  return noted.tagged + noted.other > 0 || bytes > kWritten ? noted : read_through(address, bytes, mark);
}

void fill(uint64_t address, uint64_t bytes, const TagWords& tag) {
  note_written(address, bytes, mark_of(tag));
  if (bytes > kWritten) return;
  for (uint64_t at = address; at < address + bytes; at += kUnit) *reinterpret_cast<TagWords*>(at) = tag;
}

uint64_t block_threads(const Geometry& geometry) {
  return uint64_t{geometry.block[0]} * geometry.block[1] * geometry.block[2];
}

// Writes if there is a tag; always looks.
Plan plan_chip(Medium medium, uint64_t bytes, const TagWords* tag, const Mark& mark, uint64_t counters) {
  Plan plan;
  plan.touches = {{counters, 2 * sizeof(uint64_t), 8, Access::kBoth}};
  plan.run = [=, fills = tag != nullptr, words = tag ? *tag : TagWords{}](const Placement&) {
    if (fills) note_written_on_chip(medium, counters, bytes, mark_of(words));
    count(counters, residue_on_chip(medium, counters, bytes, mark));
  };
  return plan;
}

TagWords tag_at(const Arguments& arguments, size_t index) {
  return {arguments.get<uint64_t>(index), arguments.get<uint64_t>(index + 1)};
}

Plan plan_chip_fill(Medium medium, uint64_t bytes, const Arguments& arguments) {
  const TagWords tag = tag_at(arguments, 0);
  return plan_chip(medium, bytes, &tag, mark_at(arguments, 2), arguments.get<uint64_t>(4));
}

Plan plan_chip_scan(Medium medium, uint64_t bytes, const Arguments& arguments) {
  return plan_chip(medium, bytes, nullptr, mark_at(arguments, 0), arguments.get<uint64_t>(2));
}

uint64_t shared_bytes(const Geometry& geometry) { return static_cast<uint64_t>(blocks_of(geometry)) * kSharedBytes; }

uint64_t local_bytes(const Geometry& geometry) {
  return static_cast<uint64_t>(blocks_of(geometry)) * block_threads(geometry) * kLocalBytes;
}

}  // namespace

Plan plan_tag_fill(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto address = arguments.get<uint64_t>(0), bytes = arguments.get<uint64_t>(1) * kUnit;
  const TagWords tag = tag_at(arguments, 2);
  Plan plan;
  plan.nanoseconds = static_cast<double>(bytes) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{address, bytes, kUnit, Access::kWrite}};
  plan.run = [=](const Placement&) { fill(address, bytes, tag); };
  return plan;
}

Plan plan_tag_scan(const Arguments& arguments, const Geometry&, const CardSettings& card) {
  const auto address = arguments.get<uint64_t>(0), bytes = arguments.get<uint64_t>(1) * kUnit;
  const Mark mark = mark_at(arguments, 2);
  const auto counters = arguments.get<uint64_t>(4);
  Plan plan;
  plan.nanoseconds = static_cast<double>(bytes) / card.dram_gbs;
  plan.demand = demand_of(kDram);
  plan.touches = {{address, bytes, kUnit, Access::kRead}, {counters, 2 * sizeof(uint64_t), 8, Access::kBoth}};
  plan.run = [=](const Placement&) { count(counters, scan(address, bytes, mark)); };
  return plan;
}

Plan plan_shared_fill(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  return plan_chip_fill(Medium::kShared, shared_bytes(geometry), arguments);
}

Plan plan_shared_scan(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  return plan_chip_scan(Medium::kShared, shared_bytes(geometry), arguments);
}

Plan plan_local_fill(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  return plan_chip_fill(Medium::kLocal, local_bytes(geometry), arguments);
}

Plan plan_local_scan(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  return plan_chip_scan(Medium::kLocal, local_bytes(geometry), arguments);
}

Plan plan_registers(const Arguments& arguments, const Geometry& geometry, const CardSettings&) {
  const auto tag_from = arguments.get<uint64_t>(0);
  const bool fills = arguments.get<unsigned>(1) != 0;
  const Mark mark = mark_at(arguments, 2);
  const auto counters = arguments.get<uint64_t>(4);
  const uint64_t bytes = static_cast<uint64_t>(blocks_of(geometry)) * block_threads(geometry) * kRegisterBytes;
  Plan plan = plan_chip(Medium::kRegisters, bytes, nullptr, mark, counters);
  if (!fills) return plan;
  plan.touches.push_back({tag_from, sizeof(TagWords), kUnit, Access::kRead});
  plan.run = [=](const Placement&) {
    note_written_on_chip(Medium::kRegisters, counters, bytes, mark_of(*reinterpret_cast<const TagWords*>(tag_from)));
    count(counters, residue_on_chip(Medium::kRegisters, counters, bytes, mark));
  };
  return plan;
}

}  // namespace gvb::sim

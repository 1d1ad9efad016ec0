// One counter per driver function, and the entry that a program calls instead of the function. An entry adds one and
// jumps on; it reads and changes no argument, so the same code serves every signature. Once a driver function is used,
// the counters are a mapped file, which is complete at any time and however the process ends. Read by
// lib/native/call-counts.ts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gvb::count {

constexpr size_t kSlots = 2528;
constexpr size_t kLongestName = 120;
constexpr size_t kLongestPath = 1024;

// Has its own cache lines, so that threads that call different functions do not slow each other down.
struct Slot {
  std::atomic<uint64_t> calls;
  char name[kLongestName];  // as the driver exports it; empty until first used
};
static_assert(sizeof(Slot) == 128);

struct Header {
  char magic[8];  // written last
  uint32_t slots;
  std::atomic<uint32_t> refused;  // functions for which no slot was left
  uint32_t simulated;             // whether the driver is the simulation
  uint32_t reserved;
  char driver[kLongestPath];  // path of the driver; empty until one of its functions is resolved
};

struct alignas(4096) Table {
  Header header;
  char rest[4096 - sizeof(Header)];
  Slot slots[kSlots];
};

// The table in which entries count: at first this process's own memory.
Table& table();
Table& first_table();
void use_table(Table& next);

// The exported names have the first slots.
size_t exported_count();
const char* exported_name(size_t slot);

// The code that a program calls. Until a target is set, a call asks gvb_count_resolve.
void* entry(size_t slot);
bool is_entry(const void* address);
void* target(size_t slot);
bool has_target(size_t slot);

// Sets the target of a slot that has none; a target never changes again.
enum class Claim { kNew, kSame, kOther };
Claim claim(size_t slot, void* address);

}  // namespace gvb::count

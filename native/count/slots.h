// One counter for each driver function and the entry that a program calls in its place. An entry adds one and jumps on;
// it reads and changes no argument, so that one form serves every signature. The counters are the mapping of a file,
// which is complete at any time and however the process ends. Read by lib/native/call-counts.ts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gvb::count {

constexpr size_t kSlots = 2528;
constexpr size_t kLongestName = 120;
constexpr size_t kLongestPath = 1024;

// On cache lines of its own, so that threads that call different functions do not wait for each other.
struct Slot {
  std::atomic<uint64_t> calls;
  char name[kLongestName];  // as the driver exports it; empty until it is used
};
static_assert(sizeof(Slot) == 128);

struct Header {
  char magic[8];  // written last
  uint32_t slots;
  std::atomic<uint32_t> refused;  // functions that no slot was left for
  uint32_t simulated;             // whether the driver is the simulation
  uint32_t reserved;
  char driver[kLongestPath];  // the file of the driver; empty until a function of it was resolved
};

// As large as a multiple of every page size, so that a file can be mapped in its place.
struct alignas(65536) Table {
  Header header;
  char rest[4096 - sizeof(Header)];
  Slot slots[kSlots];
};
static_assert(sizeof(Table) % 65536 == 0);

Table& table();

// The exported names, whose slots are the first ones.
size_t exported_count();
const char* exported_name(size_t slot);

// What a program calls. Until a target is set, the first call of it asks gvb_count_resolve.
void* entry(size_t slot);
bool is_entry(const void* address);
void* target(size_t slot);
void set_target(size_t slot, void* address);
bool has_target(size_t slot);

}  // namespace gvb::count

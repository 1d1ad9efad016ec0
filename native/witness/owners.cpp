#include "witness/owners.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "count/object_list.h"
#include "driver/api_tables.h"
#include "driver/code_owner.h"
#include "driver/jump_target.h"
#include "driver/symbol_table.h"
#include "witness/loader_list.h"

namespace gvb::witness {

namespace {

using Dlsym = void* (*)(void* handle, const char* name);
using Owners = std::array<const char*, kCudaFunctionCount>;

// Not on the stack, which may be small.
struct Found {
  const link_map* loaded;  // the libcuda that the program gets
  const link_map* driver;  // the driver itself, if another library stands in its place
  Dlsym dlsym;             // the one that the program calls
  CudaApi bare, bare_runtime;
  CudaApi runtime, by_dlsym, linked;
};
Found found;
Owners owners;
char line[8192];
size_t objects_at_start = 0;

bool is_libcuda(const link_map& map, const SymbolTable& symbols) {
  constexpr char kLibrary[] = "libcuda.so";
  const char* slash = std::strrchr(map.l_name, '/');
  const auto begins = [&](const char* name) { return std::strncmp(name, kLibrary, sizeof kLibrary - 1) == 0; };
  return begins(slash ? slash + 1 : map.l_name) || begins(symbols.soname());
}

// As true_driver of libcuda_images.h: of several, the simulation, else the last.
void find_driver() {
  bool simulated = false;
  for (const Namespace* space = first_namespace(); space; space = after(*space))
    each_object_of(*space, [&](const link_map& map) {
      const SymbolTable symbols(map);
      const bool own = space == first_namespace();
      if (!symbols.find("cuInit") || (own && !is_libcuda(map, symbols))) return false;
      if (own && !found.loaded) found.loaded = &map;
      if (!simulated) found.driver = &map;
      simulated = simulated || symbols.find("gvbSimulatedDriver");
      return false;
    });
}

// What a program that was linked with libcuda binds to: the first in the order of the loader.
void find_linked() {
  size_t left = objects_at_start;
  each_object_of(*first_namespace(), [&](const link_map& map) {
    const bool at_start = left > 0;
    if (at_start) --left;
    if (!at_start && &map != found.loaded) return false;
    const SymbolTable symbols(map);
    if (!found.dlsym) found.dlsym = reinterpret_cast<Dlsym>(symbols.find("dlsym"));
    for (size_t i = 0; i < kCudaFunctionCount; ++i)
      if (!slot(found.linked, i)) slot(found.linked, i) = symbols.find(kCudaFunctions[i].name);
    return false;
  });
}

void find_in_tables() {
  if (!first_namespace()) return;
  find_driver();
  if (!found.loaded) return;
  find_linked();
  const SymbolTable driver(*found.driver);
  for (size_t i = 0; i < kCudaFunctionCount; ++i) slot(found.bare, i) = driver.find(kCudaFunctions[i].name);
}

void ask(CudaApi& table, decltype(CudaApi::cuGetProcAddress_v2) get) {
  for (size_t i = 0; get && i < kCudaFunctionCount; ++i) {
    const CudaFunction& function = kCudaFunctions[i];
    abi::CUdriverProcAddressQueryResult status{};
    void* address = nullptr;
    if (slot(found.bare, i) && get(function.base, &address, function.version, 0, &status) == abi::CUDA_SUCCESS)
      slot(table, i) = address;
  }
}

void ask_look_ups() {
  // A handle of glibc is the object's entry in the loader's list.
  void* handle = const_cast<link_map*>(found.loaded);
  for (size_t i = 0; i < kCudaFunctionCount; ++i)
    if (slot(found.bare, i)) slot(found.by_dlsym, i) = found.dlsym(handle, kCudaFunctions[i].name);
  ask(found.runtime, found.by_dlsym.cuGetProcAddress_v2);
  ask(found.bare_runtime, found.bare.cuGetProcAddress_v2);
}

const char* owner_at(const void* address) {
  const auto object = count::find_object(address);
  if (!object) return kNoFile;
  return object->name[0] == '\0' ? kProgram : object->name;
}

class Line {
 public:
  explicit Line(const char* kind) { add(kind); }
  Line& add(const char* text) { return add(text, std::strlen(text)); }
  Line& add(size_t number) {
    char digits[20];
    size_t begin = sizeof digits;
    do digits[--begin] = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return add(digits + begin, sizeof digits - begin);
  }
  void end(AddLine write) const { write(line, length_); }

 private:
  Line& add(const char* text, size_t length) {
    if (length < sizeof line - length_) {
      std::memcpy(line + length_, text, length);
      length_ += length;
    }
    return *this;
  }
  size_t length_ = 0;
};

struct Heading {
  const char* kind;
  const char* path;  // Empty where all paths have it.
};

// One line for each owner; an entry of `owners` is nullptr for what is the driver's own.
void add_owned(Heading what, AddLine write) {
  for (size_t first = 0; first < kCudaFunctionCount; ++first) {
    const char* owner = owners[first];
    if (!owner) continue;
    Line text(what.kind);
    text.add(what.path).add("\"").add(owner).add("\"");
    for (size_t i = first; i < kCudaFunctionCount; ++i) {
      if (!owners[i] || std::strcmp(owners[i], owner) != 0) continue;
      text.add(" ").add(kCudaFunctions[i].name);
      owners[i] = nullptr;
    }
    text.end(write);
  }
}

void add_path(const char* name, const CudaApi& table, AddLine write) {
  size_t looked = 0;
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    const void* address = slot(table, i);
    const bool own = address == slot(found.bare, i) || address == slot(found.bare_runtime, i);
    looked += address ? 1 : 0;
    owners[i] = address && !own ? owner_at(address) : nullptr;
  }
  Line(">looked ").add(name).add(looked).end(write);
  add_owned({">owned ", name}, write);
}

// What the processor would read when it runs the jump.
size_t read_there(uintptr_t address, void* out, size_t size) {
  std::memcpy(out, reinterpret_cast<const void*>(address), size);
  return size;
}

const char* owner_behind_jump(const void* function) {
  constexpr uintptr_t kLooked = 32, kPage = 4096;
  constexpr int kMostHops = 4;
  const auto driver = count::find_object(function);
  auto address = reinterpret_cast<uintptr_t>(function);
  const char* owner = nullptr;
  for (int hop = 0; driver && hop < kMostHops; ++hop) {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    // What follows on the next page need not be readable.
    const size_t size = std::min(kLooked, kPage - address % kPage), skipped = landing_pad(code, size);
    const auto target = jump_target({code + skipped, size - skipped}, address + skipped, read_there);
    if (!target) break;
    address = *target;
    owner = owner_at(reinterpret_cast<const void*>(address));
    if (std::strcmp(owner, kNoFile) != 0) break;
  }
  return owner && driver && std::strcmp(owner, driver->name) != 0 ? owner : nullptr;
}

void add_patched(AddLine write) {
  for (size_t i = 0; i < kCudaFunctionCount; ++i) {
    const void* function = slot(found.bare, i);
    owners[i] = function ? owner_behind_jump(function) : nullptr;
  }
  add_owned({">patched ", ""}, write);
}

}  // namespace

void note_start() {
  while_unchanged([] {
    if (!first_namespace()) return;
    each_object_of(*first_namespace(), [](const link_map&) {
      ++objects_at_start;
      return false;
    });
  });
}

void look_at_owners(AddLine add) {
  found = {};
  while_unchanged(find_in_tables);
  if (!found.loaded || !found.dlsym) return;
  ask_look_ups();
  Line(">driver ").add(found.driver->l_name).end(add);
  add_path("runtime ", found.runtime, add);
  add_path("dlsym ", found.by_dlsym, add);
  add_path("linked ", found.linked, add);
  add_patched(add);
}

}  // namespace gvb::witness

// Function look-ups: dlsym and cuGetProcAddress return a counting entry for each driver function they find. A program
// that was linked with a function finds its exported entry.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "count/count_file.h"
#include "count/objects.h"
#include "count/scope.h"
#include "count/slots.h"
#include "driver/api_tables.h"
#include "driver/symbol_paths.h"

namespace gvb::count {

namespace {

#if defined(__x86_64__)
constexpr const char* kFirstVersion = "GLIBC_2.2.5";
#else
constexpr const char* kFirstVersion = "GLIBC_2.17";
#endif

// Searches the libraries loaded after this one, including those of a layer. Does not allocate: an allocator may look up
// a symbol before it can serve.
DlsymFunction next_dlsym() {
  static const auto function = reinterpret_cast<DlsymFunction>(dlvsym(RTLD_NEXT, "dlsym", kFirstVersion));
  return function;
}

// cuInit, but not cublasCreate or cudaMalloc.
bool is_driver_name(const char* name) { return name[0] == 'c' && name[1] == 'u' && std::isupper(name[2]) != 0; }

// The driver's look-up functions, and ours in their place. The older one has one parameter less; ours ignores the extra
// one.
using GetProcAddress = decltype(CudaApi::cuGetProcAddress_v2);
constexpr const char* kLookUps[] = {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetProcAddress_v2_ptsz"};
std::atomic<GetProcAddress> real_look_ups[std::size(kLookUps)];

void* counted(const char* name, void* address, const Object& driver);
std::string exported_as(const char* base, int version, const void* address);

template <size_t which>
abi::CUresult get_proc_address(const char* base, void** function, int version, unsigned long long flags,
                               abi::CUdriverProcAddressQueryResult* status) {
  const abi::CUresult code = real_look_ups[which].load()(base, function, version, flags, status);
  if (code != abi::CUDA_SUCCESS || !base || !function || !*function) return code;
  const Object& object = object_of(*function);
  if (object.is_driver) *function = counted(exported_as(base, version, *function).c_str(), *function, object);
  return code;
}

constexpr GetProcAddress kOurs[] = {get_proc_address<0>, get_proc_address<1>, get_proc_address<2>};

// The exported name if the address is an export of that function; else derived from the version.
std::string exported_as(const char* base, int version, const void* address) {
  if (std::string name = exported_name_at(address, base); !name.empty()) return name;
  const CudaFunction* newest = nullptr;
  for (const CudaFunction& known : kCudaFunctions)
    if (std::strcmp(known.base, base) == 0 && known.version <= version && (!newest || known.version > newest->version))
      newest = &known;
  return newest ? newest->name : base;
}

// The target that the entry jumps to.
void* through(const char* name, void* address) {
  for (size_t i = 0; i < std::size(kLookUps); ++i) {
    if (std::strcmp(name, kLookUps[i]) != 0) continue;
    real_look_ups[i] = reinterpret_cast<GetProcAddress>(address);
    return reinterpret_cast<void*>(kOurs[i]);
  }
  return address;
}

void note(const Object& driver) {
  Header& header = table().header;
  if (header.driver[0] != '\0') return;
  header.simulated = driver.simulated;
  std::snprintf(header.driver, sizeof header.driver, "%s", driver.path.c_str());
}

void name_slot(size_t slot, const char* name) {
  std::strcpy(first_table().slots[slot].name, name);
  if (&table() != &first_table()) std::strcpy(table().slots[slot].name, name);
}

// The slot of the exported name, or one after those, which from now on leads to the address; kSlots if none is left.
size_t slot_for(const char* name, void* goes_to) {
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const bool is_exported = slot < exported_count();
    if (is_exported && std::strcmp(exported_name(slot), name) != 0) continue;
    const Claim claimed = claim(slot, goes_to);
    if (claimed == Claim::kNew) name_slot(slot, name);
    // Two threads that look a function up at once may each take a slot for it; its counts are summed up by name.
    const auto is_named = [&] { return std::strcmp(first_table().slots[slot].name, name) == 0; };
    if (claimed == Claim::kNew || (claimed == Claim::kSame && (is_exported || is_named()))) return slot;
  }
  return kSlots;
}

void* counted(const char* name, void* address, const Object& driver) {
  begin_counting();
  note(driver);
  const size_t slot = std::strlen(name) < kLongestName ? slot_for(name, through(name, address)) : kSlots;
  if (slot == kSlots) ++table().header.refused;
  return slot == kSlots ? address : entry(slot);
}

void* looked_up(void* handle, const char* name, const void* caller) {
  void* found = next_dlsym()(handle, name);
  // A look-up in the global scope finds our own entries first.
  if (is_entry(found)) found = next_dlsym()(RTLD_NEXT, name);
  if (!found && handle == RTLD_DEFAULT && (found = loaded_beside(caller, name))) dlerror();  // it was found after all
  if (!found) return nullptr;
  const Object& object = object_of(found);
  return object.is_driver ? counted(name, found, object) : found;
}

// Searches the global scope, then libcuda: it may be loaded for one library only, or not yet, in which case stubs would
// load it. What the program was linked with is found without the loader's lock, as the loader itself binds a call.
void* linked(const char* name) {
  if (void* found = linked_at_start(name)) return found;
  if (void* found = next_dlsym()(RTLD_NEXT, name)) return found;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return driver ? next_dlsym()(driver, name) : nullptr;
}

}  // namespace

// Called on the first call through an entry that no look-up returned.
extern "C" __attribute__((used, visibility("hidden"))) void* gvb_count_resolve(unsigned slot) {
  const int kept = errno;
  const char* const name = exported_name(slot);
  void* const found = linked(name);
  if (!found) {
    // Fails as the dynamic loader would.
    std::fprintf(stderr, "gpu-virt-bench: symbol lookup error: undefined symbol: %s\n", name);
    _exit(127);
  }
  begin_counting();
  note(object_of(found));
  if (claim(slot, through(name, found)) == Claim::kNew) name_slot(slot, name);
  keep_first_call(slot);
  errno = kept;
  return target(slot);
}

__attribute__((constructor)) static void load() {
  note_start();
  pthread_atfork(nullptr, nullptr, begin_counting_in_child);
}

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  if (name && handle != RTLD_NEXT && is_driver_name(name)) {
    const void* const caller = __builtin_return_address(0);
    // A layer looks up the functions it intercepts: its calls are not the program's.
    if (!object_of(caller).forwards) return looked_up(handle, name, caller);
  }
  // Must be a tail call: libc's dlsym checks its caller, and RTLD_NEXT means next after that object.
  return next_dlsym()(handle, name);
}

}  // namespace gvb::count

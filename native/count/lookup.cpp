// Function look-ups: dlsym and cuGetProcAddress return a counting entry for each driver function they find. A program
// that was linked with a function finds its exported entry.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "count/count_file.h"
#include "count/slots.h"
#include "driver/api_tables.h"
#include "driver/elf_image.h"
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

// An object that was inspected, by load address. There are few: the driver, layers, and objects that look functions up.
struct Object {
  const void* base = nullptr;
  bool is_driver = false;  // exports cuInit: the driver, or a layer in front of it
  bool forwards = false;   // a layer or a libcuda, which looks functions up for itself
};

std::mutex& mutex() {
  static std::mutex& instance = *new std::mutex;
  return instance;
}

void note_driver(const ElfImage& image) {
  Header& header = table().header;
  if (header.driver[0] != '\0') return;
  std::snprintf(header.driver, sizeof header.driver, "%s", image.path().c_str());
  header.simulated = image.find("gvbSimError") != nullptr;
}

Object look_at(const void* base, const link_map* map) {
  const ElfImage image(*map);
  Object object{base, image.find("cuInit") != nullptr, false};
  if (!object.is_driver) return object;
  note_driver(image);
  // A program may contain stubs of the driver's functions, which look up the functions that the program then calls.
  object.forwards = image.find("dlsym") != nullptr || image.soname().rfind("libcuda.so", 0) == 0;
  return object;
}

// The object that contains the address. Requires the mutex.
Object object_of(const void* address) {
  static std::array<Object, 64> known;
  static size_t count = 0;
  Dl_info info;
  link_map* map = nullptr;
  if (is_entry(address) || dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map)
    return {};
  for (size_t i = 0; i < count; ++i)
    if (known[i].base == info.dli_fbase) return known[i];
  const Object object = look_at(info.dli_fbase, map);
  if (count < known.size()) known[count++] = object;
  return object;
}

// The driver's look-up functions, and ours in their place. The older one has one parameter less; ours ignores the extra
// one.
using GetProcAddress = decltype(CudaApi::cuGetProcAddress_v2);
constexpr const char* kLookUps[] = {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetProcAddress_v2_ptsz"};
GetProcAddress real_look_ups[std::size(kLookUps)];

void* counted(const char* name, void* address);
std::string exported_as(const char* base, int version, const void* address);

template <size_t which>
abi::CUresult get_proc_address(const char* base, void** function, int version, unsigned long long flags,
                               abi::CUdriverProcAddressQueryResult* status) {
  const abi::CUresult code = real_look_ups[which](base, function, version, flags, status);
  if (code != abi::CUDA_SUCCESS || !base || !function || !*function) return code;
  const std::lock_guard<std::mutex> lock(mutex());
  if (object_of(*function).is_driver) *function = counted(exported_as(base, version, *function).c_str(), *function);
  return code;
}

constexpr GetProcAddress kOurs[] = {get_proc_address<0>, get_proc_address<1>, get_proc_address<2>};

// The exported name if the address is an export of that function; else derived from the version.
std::string exported_as(const char* base, int version, const void* address) {
  Dl_info info;
  const size_t length = std::strlen(base);
  if (dladdr(address, &info) != 0 && info.dli_sname && info.dli_saddr == address &&
      std::strncmp(info.dli_sname, base, length) == 0 &&
      (info.dli_sname[length] == '\0' || info.dli_sname[length] == '_'))
    return info.dli_sname;
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

// The slot of the exported name, or a free one after those; kSlots if none is left.
size_t slot_of(const char* name, const void* target_of_it) {
  const auto serves = [&](size_t slot) { return !has_target(slot) || target(slot) == target_of_it; };
  size_t slot = 0;
  while (slot < exported_count() && (std::strcmp(exported_name(slot), name) != 0 || !serves(slot))) ++slot;
  for (; slot >= exported_count() && slot < kSlots; ++slot)
    if (!has_target(slot) || (std::strcmp(table().slots[slot].name, name) == 0 && serves(slot))) break;
  return slot;
}

// Requires the mutex.
void* counted(const char* name, void* address) {
  void* const goes_to = through(name, address);
  const size_t slot = slot_of(name, goes_to);
  if (slot == kSlots || std::strlen(name) >= kLongestName) {
    ++table().header.refused;
    return address;
  }
  std::strcpy(table().slots[slot].name, name);
  set_target(slot, goes_to);
  return entry(slot);
}

void* looked_up(void* handle, const char* name) {
  void* found = next_dlsym()(handle, name);
  // A look-up in the global scope finds our own entries first.
  if (is_entry(found)) found = next_dlsym()(RTLD_NEXT, name);
  if (!found) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex());
  return object_of(found).is_driver ? counted(name, found) : found;
}

// A layer looks up the functions it intercepts: its calls are not the program's.
bool asks_for_itself(const void* caller) {
  const std::lock_guard<std::mutex> lock(mutex());
  return object_of(caller).forwards;
}

// Searches the global scope, then libcuda: it may be loaded for one library only, or not yet, in which case stubs would
// load it.
void* linked(const char* name) {
  if (void* found = next_dlsym()(RTLD_NEXT, name)) return found;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  return driver ? next_dlsym()(driver, name) : nullptr;
}

}  // namespace

// Called on the first call through an entry that no look-up returned.
extern "C" __attribute__((used, visibility("hidden"))) void* gvb_count_resolve(unsigned slot) {
  const char* const name = exported_name(slot);
  void* const found = linked(name);
  if (!found) {
    // Fails as the dynamic loader would.
    std::fprintf(stderr, "gpu-virt-bench: symbol lookup error: undefined symbol: %s\n", name);
    _exit(127);
  }
  const std::lock_guard<std::mutex> lock(mutex());
  object_of(found);  // notes the driver
  if (!has_target(slot)) {
    std::strcpy(table().slots[slot].name, name);
    set_target(slot, through(name, found));
  }
  return target(slot);
}

// No thread may hold the mutex during a fork: the child could never lock it again.
__attribute__((constructor)) static void load() {
  begin_file();
  pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); },
                 [] {
                   begin_file_of_child();
                   mutex().unlock();
                 });
}

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  if (name && handle != RTLD_NEXT && is_driver_name(name) && !asks_for_itself(__builtin_return_address(0)))
    return looked_up(handle, name);
  // Must be a tail call: libc's dlsym checks its caller, and RTLD_NEXT means next after that object.
  return next_dlsym()(handle, name);
}

}  // namespace gvb::count

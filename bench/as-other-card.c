// Answers for the GPU as a card of another compute capability does: attributes, shared memory of a block, occupancy. A
// multiprocessor then has as much shared memory as that card's, as far as this GPU can (a carve-out), so no more blocks
// are on it than there. What runs are the kernels for that card, on this one's multiprocessors and at its clocks.
// Usage: cc -shared -fPIC -O1 -o as-other-card.so as-other-card.c -ldl
//   LD_PRELOAD=./as-other-card.so GVB_SHIM=CODE=VALUE,… gpu-virt-bench …
//   CODE: of cuDeviceGetAttribute. 75 and 76 are the capability, 39 a multiprocessor's threads, 81 its shared memory
//   and 97 what a block of it can have, both in bytes. bench/rates.js --as builds and loads it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 39, kShared = 81, kSharedOfBlock = 97 };         // CUdevice_attribute
enum { kMaxDynamicShared = 8, kCarveOut = 9, kInvalidValue = 1 };  // CUfunction_attribute, CUresult
enum { kAny = 1 << 30, kReservedOfBlock = 1024 };

typedef int (*Look)(const char*, void**, int, unsigned long long);
typedef int (*LookV2)(const char*, void**, int, unsigned long long, void*);

static int (*device_attribute)(int*, int, int);
static int (*function_attribute)(void*, int, int);
static int (*occupancy)(int*, void*, int, size_t);
static int (*occupancy_with_flags)(int*, void*, int, size_t, unsigned);
static Look look;
static LookV2 look_v2;

static int told(int code, int otherwise) {
  const char* given = getenv("GVB_SHIM");
  char all[512], key[16];
  snprintf(all, sizeof all, ",%s", given ? given : "");
  snprintf(key, sizeof key, ",%d=", code);
  const char* at = strstr(all, key);
  return at ? atoi(at + strlen(key)) : otherwise;
}

static int as_told(int* value, int code, int device) {
  const int result = device_attribute(value, code, device);
  if (result == 0 && value) *value = told(code, *value);
  return result;
}

// The driver rounds the percentage up to the next size that the GPU has.
static int set_attribute(void* function, int attribute, int value) {
  if (attribute == kMaxDynamicShared && value > told(kSharedOfBlock, kAny)) return kInvalidValue;
  int all = 0;
  if (attribute == kMaxDynamicShared && device_attribute && device_attribute(&all, kShared, 0) == 0 && all > 0 &&
      told(kShared, all) < all)
    function_attribute(function, kCarveOut, (int)(100LL * told(kShared, all) / all));
  return function_attribute(function, attribute, value);
}

static int at_most(int* blocks, int threads, size_t shared) {
  const int by_threads = told(kThreads, 2048) / ((threads + 31) / 32 * 32);
  const int by_shared = shared ? told(kShared, kAny) / (int)(shared + kReservedOfBlock) : kAny;
  if (*blocks > by_threads) *blocks = by_threads;
  if (*blocks > by_shared) *blocks = by_shared;
  return 0;
}

static int blocks_of(int* blocks, void* function, int threads, size_t shared) {
  const int result = occupancy(blocks, function, threads, shared);
  return result ? result : at_most(blocks, threads, shared);
}

static int blocks_with_flags(int* blocks, void* function, int threads, size_t shared, unsigned flags) {
  const int result = occupancy_with_flags(blocks, function, threads, shared, flags);
  return result ? result : at_most(blocks, threads, shared);
}

static int looked_up(const char*, void**, int, unsigned long long);
static int looked_up_v2(const char*, void**, int, unsigned long long, void*);

// What stands for `real`. Since CUDA 12 cuGetProcAddress is found under its plain name as well with five parameters.
static void* instead_of(const char* name, void* real, int since_12) {
  if (!real) return real;
  if (!strcmp(name, "cuDeviceGetAttribute")) return device_attribute = real, (void*)as_told;
  if (!strcmp(name, "cuFuncSetAttribute")) return function_attribute = real, (void*)set_attribute;
  if (!strcmp(name, "cuOccupancyMaxActiveBlocksPerMultiprocessor")) return occupancy = real, (void*)blocks_of;
  if (!strcmp(name, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"))
    return occupancy_with_flags = real, (void*)blocks_with_flags;
  if (!strcmp(name, "cuGetProcAddress_v2") || (since_12 && !strcmp(name, "cuGetProcAddress"))) {
    if (real != (void*)looked_up_v2) look_v2 = real;
    return looked_up_v2;
  }
  if (!strcmp(name, "cuGetProcAddress")) {
    if (real != (void*)looked_up) look = real;
    return looked_up;
  }
  return real;
}

static int looked_up(const char* name, void** function, int version, unsigned long long flags) {
  const int result = look(name, function, version, flags);
  if (result == 0 && function) *function = instead_of(name, *function, version >= 12000);
  return result;
}

static int looked_up_v2(const char* name, void** function, int version, unsigned long long flags, void* status) {
  const int result = look_v2(name, function, version, flags, status);
  if (result == 0 && function) *function = instead_of(name, *function, version >= 12000);
  return result;
}

void* dlsym(void* library, const char* name) {
  static void* (*real)(void*, const char*);
  if (!real) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!real) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return instead_of(name, real(library, name), 0);
}

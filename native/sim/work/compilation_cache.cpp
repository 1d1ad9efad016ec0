#include "sim/work/compilation_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/settings.h"

namespace gvb::sim {
namespace {

// FNV-1a. The result of a compilation depends on the text, the compiler and the target.
uint64_t key_of(const char* ptx, int64_t cc) {
  uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 1099511628211ULL; };
  for (; *ptx != '\0'; ++ptx) add(static_cast<unsigned char>(*ptx));
  add(static_cast<uint64_t>(settings().driver_version));
  add(static_cast<uint64_t>(cc));
  return hash;
}

}  // namespace

bool is_compilation_disabled() {
  const char* disabled = std::getenv("CUDA_DISABLE_PTX_JIT");
  return disabled != nullptr && std::strcmp(disabled, "1") == 0;
}

bool compiled_before(const char* ptx, int64_t cc) {
  const char* folder = std::getenv("CUDA_CACHE_PATH");
  const char* disabled = std::getenv("CUDA_CACHE_DISABLE");
  if (folder == nullptr || *folder == '\0' || (disabled != nullptr && std::strcmp(disabled, "1") == 0)) return false;
  char name[32];
  std::snprintf(name, sizeof name, "/gvb-sim-%016llx", static_cast<unsigned long long>(key_of(ptx, cc)));
  const int fd = open((folder + std::string(name)).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST;
  close(fd);
  return false;
}

}  // namespace gvb::sim

#include "record/call_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gvb::record {
namespace {

constexpr size_t kPage = 4096;
// 131 072 calls. Where a first touch takes 13 us, one call in 64 would pay for it.
constexpr size_t kTouched = 2048 * kPage;
constexpr size_t kReadingSeries = 101;

// Several libraries of a process may record, each into its own file.
int create(const std::string& folder) {
  for (int number = 0;; ++number) {
    const std::string path = folder + "/" + std::to_string(getpid()) + "-" + std::to_string(number) + ".calls";
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
}

}  // namespace

MadeLog CallLog::make(const std::string& folder, const std::vector<const char*>& names) {
  std::string text;
  for (const char* name : names) (text += name) += '\n';
  const size_t calls_at = (sizeof(Header) + text.size() + kPage - 1) / kPage * kPage;
  const size_t size = calls_at + kMostCalls * sizeof(Call);
  const int file = create(folder);
  void* memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0)
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const std::string why_not = memory == MAP_FAILED ? std::strerror(errno) : "";
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) return {nullptr, why_not};
  auto* header = static_cast<Header*>(memory);
  header->capacity = kMostCalls;
  header->names_bytes = text.size();
  header->calls_at = calls_at;
  header->reading_ns = measure_reading_cost(kReadingSeries).median;
  std::memcpy(static_cast<char*>(memory) + sizeof(Header), text.data(), text.size());
  // Touches the pages, so that the first calls do not pay for them. To populate them first is a third of the cost;
  // where the kernel cannot (before 5.14), touching them does the same.
#ifdef MADV_POPULATE_WRITE
  madvise(static_cast<char*>(memory) + calls_at, kTouched, MADV_POPULATE_WRITE);
#endif
  std::memset(static_cast<char*>(memory) + calls_at, 0, kTouched);
  std::memcpy(header->magic, "gvbcalls", sizeof header->magic);
  return {new CallLog(header, reinterpret_cast<Call*>(static_cast<char*>(memory) + calls_at)), ""};
}

uint32_t CallLog::thread() {
  thread_local const auto id = static_cast<uint32_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace gvb::record

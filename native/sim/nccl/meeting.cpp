#include "sim/nccl/meeting.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace gvb::sim {
namespace {

constexpr uint64_t kMagic = 0x6c63636e2d627667;
constexpr size_t kDataAt = size_t{1} << 20;
constexpr size_t kBytes = kDataAt + kPlaces * kMostRanks * kMostBytes;
static_assert(sizeof(Rendezvous) <= kDataAt);

struct Id {
  uint64_t magic;
  int pid, file;
};
static_assert(sizeof(Id) <= sizeof(abi::ncclUniqueId));

}  // namespace

bool Meeting::make(abi::ncclUniqueId* id) {
  // Stays open until the process ends: ranks may join at any time.
  const int file = memfd_create("gvb-sim-nccl", MFD_CLOEXEC);
  if (file < 0) return false;
  if (ftruncate(file, static_cast<off_t>(kBytes)) != 0) {
    close(file);
    return false;
  }
  const Id made = {kMagic, getpid(), file};
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, &made, sizeof made);
  return true;
}

Meeting* Meeting::open(const abi::ncclUniqueId& id) {
  Id given;
  std::memcpy(&given, id.internal, sizeof given);
  if (given.magic != kMagic) return nullptr;
  const std::string path = "/proc/" + std::to_string(given.pid) + "/fd/" + std::to_string(given.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return new Meeting(memory, static_cast<char*>(memory) + kDataAt);
}

Meeting::~Meeting() { munmap(memory_, kBytes); }

}  // namespace gvb::sim

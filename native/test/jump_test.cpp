// Jumps as layers that patch code write them, and code that was changed in memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "driver/code_on_disk.h"
#include "driver/elf_image.h"
#include "driver/jump_target.h"
#include "driver/memory_map.h"
#include "test/check.h"

namespace {

using namespace gvb;
using Bytes = std::vector<unsigned char>;

uintptr_t target_of(const Bytes& code, uintptr_t address = 0x1000) {
  return jump_target({code.data(), code.size()}, address, read_own_memory).value_or(0);
}

#if defined(__x86_64__)

void forms_of_jumps() {
  CHECK_EQUAL(target_of({0xeb, 0xfe}), 0x1000u);
  CHECK_EQUAL(target_of({0xe9, 0x10, 0, 0, 0}), 0x1015u);
  CHECK_EQUAL(target_of({0xe9, 0xfb, 0xff, 0xff, 0xff}), 0x1000u);
  CHECK_EQUAL(target_of({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 0, 0xff, 0xe0}), 0x0007060504030201u);
  CHECK_EQUAL(target_of({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 0, 0x50, 0xc3}), 0x0007060504030201u);
  CHECK_EQUAL(target_of({0x49, 0xbb, 1, 0, 0, 0, 0, 1, 0, 0, 0x41, 0xff, 0xe3}), 0x0000010000000001u);
  CHECK_EQUAL(target_of({0x68, 0x78, 0x56, 0x34, 0x12, 0xc7, 0x44, 0x24, 0x04, 0xff, 0x7f, 0, 0, 0xc3}),
              0x00007fff12345678u);
  // Indirect: the pointer follows the jump.
  unsigned char code[14] = {0xff, 0x25, 0, 0, 0, 0};
  const uintptr_t wanted = 0x123456789a;
  std::memcpy(code + 6, &wanted, sizeof wanted);
  CHECK_EQUAL(jump_target({code, sizeof code}, reinterpret_cast<uintptr_t>(code), read_own_memory).value_or(0), wanted);
  // Its pointer is at an unmapped address.
  CHECK_EQUAL(target_of({0xff, 0x25, 0, 0, 0, 0}, 8), 0u);
  // No jumps: a compiler's prologue, a load without its jump, a truncated one.
  CHECK_EQUAL(target_of({0x55, 0x48, 0x89, 0xe5, 0x41, 0x57}), 0u);
  CHECK_EQUAL(target_of({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 0, 0x90, 0x90}), 0u);
  CHECK_EQUAL(target_of({0xe9, 0x10}), 0u);
  const Bytes pad = {0xf3, 0x0f, 0x1e, 0xfa, 0x90};
  CHECK_EQUAL(landing_pad(pad.data(), pad.size()), 4u);
  CHECK_EQUAL(landing_pad(pad.data() + 1, 4), 0u);
}

#else

Bytes words(std::initializer_list<uint32_t> list) {
  Bytes bytes(list.size() * 4);
  std::memcpy(bytes.data(), list.begin(), bytes.size());
  return bytes;
}

void forms_of_jumps() {
  CHECK_EQUAL(target_of(words({0x14000004})), 0x1010u);
  CHECK_EQUAL(target_of(words({0x17ffffff})), 0x0ffcu);
  // adrp x16, +1 page; add x16, x16, #0x20; br x16
  CHECK_EQUAL(target_of(words({0xb0000010, 0x91008210, 0xd61f0200})), 0x2020u);
  CHECK_EQUAL(target_of(words({0xa9bf7bfd, 0x910003fd})), 0u);
  const Bytes pad = words({0xd503245f});
  CHECK_EQUAL(landing_pad(pad.data(), pad.size()), 4u);
  const uintptr_t wanted = 0x123456789a;
  Bytes code = words({0x58000050, 0xd61f0200, 0, 0});
  std::memcpy(code.data() + 8, &wanted, sizeof wanted);
  CHECK_EQUAL(target_of(code, reinterpret_cast<uintptr_t>(code.data())), wanted);
}

#endif

// Changes code only in memory, as a layer that patches functions does; restores it at the end.
class Overwritten {
 public:
  Overwritten(void* place, const Bytes& bytes) : place_(static_cast<unsigned char*>(place)), kept_(bytes.size()) {
    std::memcpy(kept_.data(), place_, kept_.size());
    write(bytes);
  }
  ~Overwritten() { write(kept_); }

 private:
  void write(const Bytes& bytes) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void* start = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(place_) & ~(page - 1));
    CHECK(mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
    std::memcpy(place_, bytes.data(), bytes.size());
    CHECK(mprotect(start, 2 * page, PROT_READ | PROT_EXEC) == 0);
  }

  unsigned char* place_;
  Bytes kept_;
};

const ElfImage* image_with(const std::vector<ElfImage>& images, const char* name) {
  for (const ElfImage& image : images)
    if (image.find(name) && image.path().find("libm") != std::string::npos) return &image;
  return nullptr;
}

// Uses a function of the C library that no test calls.
void changed_code() {
  const std::vector<ElfImage> images = ElfImage::all();
  const ElfImage* libm = image_with(images, "lgammaf_r");
  CHECK(libm != nullptr);
  if (!libm) return;
  void* function = libm->find("lgammaf_r");
  const CodeOnDisk disk(*libm);
  CHECK(disk.unreadable().empty());
  CHECK(!disk.patch_at(function));
  CHECK(!disk.patch_at(reinterpret_cast<const void*>(&changed_code)));
  {
    // A breakpoint is no jump.
    const Overwritten breakpoint(function, {0xcc});
    const auto patch = disk.patch_at(function);
    CHECK(patch && patch->bytes.rfind("cc", 0) == 0 && patch->owner.empty());
  }
  CHECK(!disk.patch_at(function));
}

}  // namespace

int main() {
  forms_of_jumps();
  changed_code();
  return test::report("jump_test");
}

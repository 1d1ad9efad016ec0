#include "driver/jump_target.h"

#include <cstring>

namespace gvb {

namespace {

template <class T>
T value_at(const unsigned char* code) {
  T value;
  std::memcpy(&value, code, sizeof value);
  return value;
}

uintptr_t moved(uintptr_t address, intptr_t by) { return address + static_cast<uintptr_t>(by); }

std::optional<uintptr_t> pointer_at(uintptr_t address, ReadMemory read) {
  uintptr_t target = 0;
  if (read(address, &target, sizeof target) != sizeof target) return std::nullopt;
  return target;
}

}  // namespace

#if defined(__x86_64__)

size_t landing_pad(const unsigned char* code, size_t size) {
  constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  return size >= sizeof kEndbr64 && std::memcmp(code, kEndbr64, sizeof kEndbr64) == 0 ? sizeof kEndbr64 : 0;
}

namespace {

// mov r64, imm64; then jmp r64, or push r64; ret.
std::optional<uintptr_t> through_register(const unsigned char* code, size_t size) {
  const bool extended = size >= 12 && code[0] == 0x49;
  if (size < 12 || (code[0] != 0x48 && !extended) || (code[1] & 0xf8) != 0xb8) return std::nullopt;
  const unsigned char number = code[1] & 7;
  const unsigned char* next = code + 10;
  if (extended && (size < 13 || *next++ != 0x41)) return std::nullopt;
  const bool jump = next + 1 < code + size && next[0] == 0xff && next[1] == (0xe0 | number);
  const bool push_ret = next + 1 < code + size && next[0] == (0x50 | number) && next[1] == 0xc3;
  if (!jump && !push_ret) return std::nullopt;
  return value_at<uint64_t>(code + 2);
}

// push imm32, which is sign-extended; mov dword [rsp+4], imm32 for the upper half; ret.
std::optional<uintptr_t> through_stack(const unsigned char* code, size_t size) {
  constexpr unsigned char kUpper[] = {0xc7, 0x44, 0x24, 0x04};
  if (size < 6 || code[0] != 0x68) return std::nullopt;
  const auto low = value_at<int32_t>(code + 1);
  if (code[5] == 0xc3) return static_cast<uintptr_t>(static_cast<intptr_t>(low));
  if (size < 14 || std::memcmp(code + 5, kUpper, sizeof kUpper) != 0 || code[13] != 0xc3) return std::nullopt;
  return static_cast<uintptr_t>(value_at<uint32_t>(code + 9)) << 32 | static_cast<uint32_t>(low);
}

}  // namespace

std::optional<uintptr_t> jump_target(CodeBytes given, uintptr_t address, ReadMemory read) {
  const auto [code, size] = given;
  if (size >= 2 && code[0] == 0xeb) return moved(address + 2, static_cast<int8_t>(code[1]));
  if (size >= 5 && code[0] == 0xe9) return moved(address + 5, value_at<int32_t>(code + 1));
  if (size >= 6 && code[0] == 0xff && code[1] == 0x25)
    return pointer_at(moved(address + 6, value_at<int32_t>(code + 2)), read);
  if (const auto target = through_register(code, size)) return target;
  return through_stack(code, size);
}

#elif defined(__aarch64__)

size_t landing_pad(const unsigned char* code, size_t size) {
  // bti, bti c, bti j, bti jc: hints 32, 34, 36 and 38.
  return size >= 4 && (value_at<uint32_t>(code) & 0xffffff3fu) == 0xd503241fu ? 4 : 0;
}

std::optional<uintptr_t> jump_target(CodeBytes given, uintptr_t address, ReadMemory read) {
  const auto [code, size] = given;
  if (size < 4) return std::nullopt;
  const auto first = value_at<uint32_t>(code);
  // b imm26, in words.
  if (first >> 26 == 0x05) return moved(address, (static_cast<intptr_t>(static_cast<int32_t>(first << 6)) >> 6) * 4);
  if (size < 8) return std::nullopt;
  const auto second = value_at<uint32_t>(code + 4);
  const uint32_t number = first & 0x1f;
  const uint32_t branch = 0xd61f0000u | number << 5;
  // ldr xN, literal; br xN.
  if (first >> 24 == 0x58 && second == branch)
    return pointer_at(moved(address, (static_cast<intptr_t>(static_cast<int32_t>(first << 8)) >> 13) * 4), read);
  // adrp xN, page; add xN, xN, #imm12; br xN.
  if (size < 12 || (first & 0x9f000000u) != 0x90000000u || value_at<uint32_t>(code + 8) != branch) return std::nullopt;
  if ((second & 0xffc003ffu) != (0x91000000u | number << 5 | number)) return std::nullopt;
  const auto pages = static_cast<int32_t>((((first >> 5) & 0x7ffff) << 2 | ((first >> 29) & 3)) << 11) >> 11;
  return moved(address & ~uintptr_t{0xfff}, static_cast<intptr_t>(pages) * 4096) + ((second >> 10) & 0xfff);
}

#else
#error "Only x64 and arm64 are supported."
#endif

}  // namespace gvb

// System calls by the processor's instruction. A preloaded library can replace every function of libc, also syscall().
#pragma once

#include <sys/syscall.h>

namespace gvb {

// The kernel's result: negative error numbers, and no errno. The parameters are the kernel's.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters)
inline long system_call(long number, long first, long second = 0, long third = 0, long fourth = 0) {
#if defined(__x86_64__)
  long result = number;
  register long argument4 asm("r10") = fourth;
  asm volatile("syscall" : "+a"(result) : "D"(first), "S"(second), "d"(third), "r"(argument4) : "rcx", "r11", "memory");
  return result;
#else
  register long called asm("x8") = number;
  register long argument1 asm("x0") = first;
  register long argument2 asm("x1") = second;
  register long argument3 asm("x2") = third;
  register long argument4 asm("x3") = fourth;
  asm volatile("svc 0" : "+r"(argument1) : "r"(called), "r"(argument2), "r"(argument3), "r"(argument4) : "memory");
  return argument1;
#endif
}

inline long address_of(const void* pointer) { return reinterpret_cast<long>(pointer); }

}  // namespace gvb

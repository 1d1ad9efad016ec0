// When nobody catches an exception, the C++ library prints its type, demangled. The demangler would add 40 kB to every
// library and program here. The linker finds this definition first. It refuses, so the type is printed mangled.
#include <cstddef>

extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier)
__attribute__((visibility("hidden"))) char* __cxa_demangle(const char* /*name*/, char* /*buffer*/, size_t* /*length*/,
                                                           int* status) {
  constexpr int kNotAName = -2;
  if (status != nullptr) *status = kNotAName;
  return nullptr;
}
}

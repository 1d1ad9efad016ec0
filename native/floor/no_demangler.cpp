// The C++ library's message for an exception that nobody catches demangles its type, for which the linker adds the
// demangler, 40 kB, to every library and program here. This definition, found first, refuses: the type stays mangled.
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

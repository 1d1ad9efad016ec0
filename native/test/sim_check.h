#pragma once

#include <cstdio>

namespace simtest {

inline int failures = 0;

inline void check(bool passed, const char* file, int line, const char* expected, double actual) {
  if (passed) return;
  std::fprintf(stderr, "%s:%d: expected %s but received %.9g\n", file, line, expected, actual);
  ++failures;
}

template <class A, class B>
void checkEqual(const A& actual, const B& expected, const char* file, int line, const char* text) {
  check(actual == expected, file, line, text, static_cast<double>(actual));
}

}  // namespace simtest

#define CHECK(condition) simtest::check(condition, __FILE__, __LINE__, #condition, 0)

#define CHECK_EQUAL(actual, expected) \
  simtest::checkEqual(actual, expected, __FILE__, __LINE__, #actual " == " #expected)

#define CHECK_NEAR(actual, expected, tolerance)                                                                    \
  simtest::check((actual) >= (expected) - (tolerance) && (actual) <= (expected) + (tolerance), __FILE__, __LINE__, \
                 #actual " within " #tolerance " of " #expected, actual)

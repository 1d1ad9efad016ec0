// Assertions of the native tests: they report a failure and continue, so that one run shows every failure.
#pragma once

#include <cstdio>

namespace test {

inline int failures = 0;

inline void check(bool passed, const char* file, int line, const char* expected, double actual) {
  if (passed) return;
  std::fprintf(stderr, "%s:%d: expected %s but received %.9g\n", file, line, expected, actual);
  ++failures;
}

template <class A, class B>
void check_equal(const A& actual, const B& expected, const char* file, int line, const char* text) {
  check(actual == expected, file, line, text, static_cast<double>(actual));
}

// The exit status of a test program.
inline int report(const char* name) {
  std::fprintf(stderr, "%s: %s\n", name, failures == 0 ? "passed" : "FAILED");
  return failures == 0 ? 0 : 1;
}

}  // namespace test

#define CHECK(condition) test::check(condition, __FILE__, __LINE__, #condition, 0)

#define CHECK_EQUAL(actual, expected) test::check_equal(actual, expected, __FILE__, __LINE__, #actual " == " #expected)

#define CHECK_NEAR(actual, expected, tolerance)                                                                 \
  test::check((actual) >= (expected) - (tolerance) && (actual) <= (expected) + (tolerance), __FILE__, __LINE__, \
              #actual " within " #tolerance " of " #expected, actual)

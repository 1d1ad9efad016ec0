// A driver program that makes known numbers of calls: the child of count_test and of test/cli/profile.test.ts.
#pragma once

namespace test {

// Returns the exit code.
int make_calls(const char* way);

}  // namespace test

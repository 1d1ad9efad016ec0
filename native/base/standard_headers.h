// The parts of the C++ library that most files here use, read once for all by node-gyp's build (binding.gyp), which
// takes a third of its time. No file may rely on it: CMake's build has it not.
#ifndef GVB_BASE_STANDARD_HEADERS_H_
#define GVB_BASE_STANDARD_HEADERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#endif  // GVB_BASE_STANDARD_HEADERS_H_

// Headers of the C++ library that most files use, precompiled for both builds, which saves a third of the time of
// node-gyp's (binding.gyp) and a tenth of the other's (CMakeLists.txt). No file may rely on it: clang-tidy reads every
// file without it.
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

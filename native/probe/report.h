// A probe's output on stdout: one JSON object per line, written at once, so that everything before a crash or hang is
// known. A `call` line before each call names what a process that ends in it was doing.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gvb::probe::report {

// Names and values; a value is already JSON.
using Fields = std::vector<std::pair<const char*, std::string>>;

std::string quoted(const std::string& text);
// From here on this process reports nothing: another one reports at the same time.
void silence();
void line(const char* kind, const Fields& fields);

inline void calls(const std::string& step) { line("call", {{"step", quoted(step)}}); }
inline void code(const std::string& step, int value) {
  line("code", {{"step", quoted(step)}, {"code", std::to_string(value)}});
}
inline void data(const std::string& step, const std::string& value) {
  line("data", {{"step", quoted(step)}, {"value", quoted(value)}});
}

}  // namespace gvb::probe::report

// Parses settings and reads small kernel files such as those in /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gvb {

// Returns at least one part; empty parts are kept.
std::vector<std::string> split(const std::string& text, char separator);

bool begins_with(const std::string& text, const char* start);

// "name=value"; the value is empty if there is no "=".
struct NamedValue {
  std::string name, value;
};
NamedValue named_value(const std::string& text);

// The first line without its line end, at most 1 023 characters; nothing if the file is empty or cannot be read. Does
// not use std::ifstream: linked statically, that needs fstat64, which glibc has only since 2.33.
std::optional<std::string> first_line(const char* path);

}  // namespace gvb

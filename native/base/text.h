// Text: parsing of settings, and reading of small kernel files such as those in /proc.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gvb {

// At least one part; empty ones count.
std::vector<std::string> split(const std::string& text, char separator);

bool begins_with(const std::string& text, const char* start);

// "name=value"; without "=" the value is empty.
struct NamedValue {
  std::string name, value;
};
NamedValue named_value(const std::string& text);

// Nothing where the file cannot be read or is empty; at most 1 023 characters, without the line's end. Not by
// std::ifstream: linked statically it needs fstat64, which glibc has only since 2.33.
std::optional<std::string> first_line(const char* path);

}  // namespace gvb

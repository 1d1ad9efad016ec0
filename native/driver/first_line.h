// The first line of a file of the kernel's. Not by std::ifstream: linked statically it needs fstat64, which glibc has
// only since 2.33.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace gvb {

// Nothing where the file cannot be read or is empty; at most 1 023 characters, without the line's end.
inline std::optional<std::string> first_line(const char* path) {
  const std::unique_ptr<FILE, decltype(&std::fclose)> file(std::fopen(path, "re"), &std::fclose);
  char text[1024];
  if (!file || !std::fgets(text, sizeof text, file.get())) return std::nullopt;
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace gvb

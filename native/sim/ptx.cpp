#include "sim/ptx.h"

#include <cctype>
#include <cstdio>
#include <cstring>

namespace gvb::sim {
namespace {

std::string withoutComments(const std::string& text) {
  std::string code;
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else {
      code += text[i++];
    }
  }
  return code;
}

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' || c == '%';
}

std::string nextWord(const std::string& text, size_t* at) {
  while (*at < text.size() && std::isspace(static_cast<unsigned char>(text[*at])) != 0) ++*at;
  const size_t begin = *at;
  while (*at < text.size() && isWordCharacter(text[*at])) ++*at;
  return text.substr(begin, *at - begin);
}

bool balanced(const std::string& code) {
  int depth = 0;
  for (const char c : code) {
    depth += (c == '{') - (c == '}');
    if (depth < 0) return false;
  }
  return depth == 0;
}

std::vector<std::string> entriesOf(const std::string& code) {
  std::vector<std::string> names;
  for (size_t at = code.find(".entry"); at != std::string::npos; at = code.find(".entry", at)) {
    at += std::strlen(".entry");
    const std::string name = nextWord(code, &at);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

Ptx refused(abi::CUresult code, const std::string& why) {
  Ptx ptx;
  ptx.code = code;
  ptx.error = "ptxas fatal: " + why;
  return ptx;
}

// "sm_90a" runs on 9.0 alone, "sm_75" on 7.5 and later.
bool runsOn(const std::string& target, int cc) {
  int number = 0;
  int length = 0;
  if (std::sscanf(target.c_str(), "sm_%d%n", &number, &length) != 1) return false;
  return target[static_cast<size_t>(length)] == '\0' ? number <= cc : number == cc;
}

}  // namespace

Ptx parsePtx(const char* text, int driverVersion, int cc) {
  const std::string code = withoutComments(text);
  size_t at = 0;
  if (nextWord(code, &at) != ".version") {
    const bool resembles = code.find(".version") != std::string::npos || code.find(".entry") != std::string::npos ||
                           code.find(".target") != std::string::npos;
    return refused(resembles ? abi::CUDA_ERROR_INVALID_PTX : abi::CUDA_ERROR_INVALID_IMAGE,
                   "Expected the text to begin with .version.");
  }
  const std::string version = nextWord(code, &at);
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2)
    return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected .version MAJOR.MINOR but received '" + version + "'.");
  const int known = driverVersion / 1000 * 10 - 40 + driverVersion % 1000 / 10;
  if (major * 10 + minor > known)
    return refused(abi::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version " + version + ".");
  if (nextWord(code, &at) != ".target") return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected .target after .version.");
  const std::string target = nextWord(code, &at);
  if (!runsOn(target, cc))
    return refused(abi::CUDA_ERROR_INVALID_PTX,
                   "Target '" + target + "' does not run on sm_" + std::to_string(cc) + ".");
  if (!balanced(code)) return refused(abi::CUDA_ERROR_INVALID_PTX, "Unbalanced braces.");
  Ptx ptx;
  ptx.entries = entriesOf(code);
  if (ptx.entries.empty()) return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected at least one .entry.");
  return ptx;
}

}  // namespace gvb::sim

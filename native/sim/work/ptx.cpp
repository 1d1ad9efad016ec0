#include "sim/work/ptx.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gvb::sim {
namespace {

std::string without_comments(const std::string& text) {
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

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' || c == '%';
}

// Iterates over the words of a text from a position.
class Words {
 public:
  explicit Words(const std::string& text, size_t from = 0) : text_(text), at_(from) {}

  std::string next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const size_t begin = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // The number in the brackets that follow; 1 if there are none.
  size_t count() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == text_.size() || text_[at_] != '[') return 1;
    return std::strtoull(text_.c_str() + at_ + 1, nullptr, 10);
  }

 private:
  const std::string& text_;
  size_t at_;
};

bool balanced(const std::string& code) {
  int depth = 0;
  for (const char c : code) {
    depth += (c == '{') - (c == '}');
    if (depth < 0) return false;
  }
  return depth == 0;
}

// ".maxntid 128, 1, 1" between the parameters of an entry and its body: a product. 0 if it is not there.
int most_threads_of(const std::string& code, size_t from) {
  const size_t at = code.find(".maxntid", from);
  if (at == std::string::npos || at > code.find('{', from)) return 0;
  int x = 0, y = 1, z = 1;
  std::sscanf(code.c_str() + at, ".maxntid %d , %d , %d", &x, &y, &z);
  return x * y * z;
}

std::vector<PtxEntry> entries_of(const std::string& code) {
  std::vector<PtxEntry> entries;
  for (size_t at = code.find(".entry"); at != std::string::npos; at = code.find(".entry", at)) {
    at += std::strlen(".entry");
    const std::string name = Words(code, at).next();
    if (!name.empty()) entries.push_back({name, most_threads_of(code, at)});
  }
  return entries;
}

// ".b8" is one byte, ".u32" four; 0 if it is not a type.
size_t bytes_of_type(const std::string& word) {
  if (word.size() < 3 || std::strchr("busf", word[1]) == nullptr) return 0;
  return std::strtoull(word.c_str() + 2, nullptr, 10) / 8;
}

// ".global .align 16 .b8 name[100];" Initial values are not simulated.
std::vector<PtxGlobal> globals_of(const std::string& code) {
  std::vector<PtxGlobal> globals;
  for (size_t at = code.find(".global"); at != std::string::npos; at = code.find(".global", at)) {
    const bool directive = at == 0 || !is_word_character(code[at - 1]);
    at += std::strlen(".global");
    if (!directive || (at < code.size() && is_word_character(code[at]))) continue;
    Words words(code, at);
    std::string word = words.next();
    if (word == ".align") {
      words.next();
      word = words.next();
    }
    const size_t bytes = bytes_of_type(word);
    const std::string name = words.next();
    if (bytes > 0 && !name.empty()) globals.push_back({name, bytes * words.count()});
  }
  return globals;
}

Ptx refused(abi::CUresult code, const std::string& why) {
  Ptx ptx;
  ptx.code = code;
  ptx.error = "ptxas fatal: " + why;
  return ptx;
}

// The newest PTX that a driver of that CUDA version takes, times ten: PTX ISA, release history.
int newest_isa(int driver_version) {
  const int major = driver_version / 1000, minor = driver_version % 1000 / 10;
  if (major == 10) return 63 + minor;
  const bool from_12_6 = major == 12 && minor >= 6;  // had no PTX of its own
  return major * 10 - 40 + minor - (from_12_6 ? 1 : 0);
}

// Why the target cannot be compiled for a card: "sm_90a" runs only on 9.0, "sm_75" on 7.5 and later. Empty if it can.
// The words for a later target, and its code, are those of driver 580.
std::string wrong_target(const std::string& target, int cc) {
  int number = 0;
  int length = 0;
  if (std::sscanf(target.c_str(), "sm_%d%n", &number, &length) == 1) {
    if (number > cc) return "SM version specified by .target is higher than default SM version assumed";
    if (number == cc || target[static_cast<size_t>(length)] == '\0') return "";
  }
  return "PTX with .target '" + target + "' cannot be compiled to architecture 'sm_" + std::to_string(cc) + "'";
}

}  // namespace

Ptx parse_ptx(const char* text, int driver_version, int cc) {
  const std::string code = without_comments(text);
  Words words(code);
  if (words.next() != ".version") {
    const bool resembles = code.find(".version") != std::string::npos || code.find(".entry") != std::string::npos ||
                           code.find(".target") != std::string::npos;
    return refused(resembles ? abi::CUDA_ERROR_INVALID_PTX : abi::CUDA_ERROR_INVALID_IMAGE,
                   "Expected the text to begin with .version.");
  }
  const std::string version = words.next();
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2)
    return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected .version MAJOR.MINOR but received '" + version + "'.");
  const int known = newest_isa(driver_version);
  if (major * 10 + minor > known)
    return refused(abi::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version " + version +
                                                                "; current version is '" + std::to_string(known / 10) +
                                                                "." + std::to_string(known % 10) + "'");
  if (words.next() != ".target") return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected .target after .version.");
  const std::string target = words.next();
  if (const std::string why = wrong_target(target, cc); !why.empty()) return refused(abi::CUDA_ERROR_INVALID_PTX, why);
  if (!balanced(code)) return refused(abi::CUDA_ERROR_INVALID_PTX, "Unbalanced braces.");
  Ptx ptx;
  ptx.entries = entries_of(code);
  ptx.globals = globals_of(code);
  if (ptx.entries.empty()) return refused(abi::CUDA_ERROR_INVALID_PTX, "Expected at least one .entry.");
  return ptx;
}

}  // namespace gvb::sim

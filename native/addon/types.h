// The TypeScript types of the addon's functions, in the order in which they are first used.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace gvb {

// Whether this addon can describe itself, as the one for npm run native-types does (target `description` of
// binding.gyp). The texts and the names of all types would be a third of its code.
#ifdef GVB_DESCRIBED
inline constexpr bool kDescribed = true;
#else
inline constexpr bool kDescribed = false;
#endif

struct DescribedField {
  std::string name;
  std::string type;
  std::string doc;
  bool optional;
};

// An interface or, with `text`, another name for a type.
struct DescribedType {
  std::string name;
  std::string doc;
  std::string base;  // base of an interface; empty: none
  std::string text;
  std::vector<DescribedField> fields;
};

class Types {
 public:
  bool knows(const std::string& name) const {
    return std::any_of(list_.begin(), list_.end(), [&](const DescribedType& type) { return type.name == name; });
  }
  void add(DescribedType type) { list_.push_back(std::move(type)); }
  const std::vector<DescribedType>& list() const { return list_; }

 private:
  std::vector<DescribedType> list_;
};

}  // namespace gvb

// The addon's description of itself: every function with its signature, every type with its fields. npm run
// native-types generates lib/native/addon-types.ts from it.
#include "addon/topic.h"

namespace gvb {

struct DescribedFunction {
  std::string name, signature, doc;
};

struct DescribedTopic {
  std::string heading;
  std::vector<DescribedType> types;  // types that no earlier topic uses
  std::vector<DescribedFunction> functions;
};

template <>
struct Fields<DescribedField> : FieldsOf<DescribedField> {
  static constexpr const char* kName = "DescribedField";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(type));
    visit(GVB_FIELD(doc));
    visit(GVB_FIELD(optional));
  }
};

template <>
struct Fields<DescribedType> : FieldsOf<DescribedType> {
  static constexpr const char* kName = "DescribedType";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(doc));
    visit(GVB_FIELD(base).or_null());
    visit(GVB_FIELD(text).or_null().says("Type that this name stands for; null for an interface."));
    visit(GVB_FIELD(fields));
  }
};

template <>
struct Fields<DescribedFunction> : FieldsOf<DescribedFunction> {
  static constexpr const char* kName = "DescribedFunction";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(name));
    visit(GVB_FIELD(signature));
    visit(GVB_FIELD(doc));
  }
};

template <>
struct Fields<DescribedTopic> : FieldsOf<DescribedTopic> {
  static constexpr const char* kName = "DescribedTopic";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(heading));
    visit(GVB_FIELD(types));
    visit(GVB_FIELD(functions));
  }
};

namespace {

constexpr const char* kHeading = "This description";

std::vector<DescribedTopic> description() {
  std::vector<DescribedTopic> described;
  Types types;
  size_t told = 0;
  for (const Topic* topic : Topic::all()) {
    if (topic->heading == kHeading) continue;
    DescribedTopic out;
    out.heading = topic->heading;
    for (const Function& function : topic->functions)
      out.functions.push_back({function.name, function.signature(types), function.doc});
    for (; told < types.list().size(); ++told) out.types.push_back(types.list()[told]);
    described.push_back(std::move(out));
  }
  return described;
}

const Topic description_topic{kHeading, {at_once("description", description)}};

}  // namespace

}  // namespace gvb

// The fields of request and result structs, one list each. Argument checks, the conversion to JavaScript and the types
// of lib/native/addon-types.ts follow from it. A field has its member's name (period_ns is periodNs), so that fields
// cannot be mixed up.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "addon/types.h"

namespace gvb {

// The texts of an enumeration field, and its type's name in TypeScript (empty: a union of the texts).
template <class Enum>
struct Choices {
  const char* name;
  std::vector<std::pair<Enum, const char*>> list;
};

// For an enumeration that is a whole result instead of a field.
template <class Enum>
const Choices<Enum>* const kChoicesOf = nullptr;

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

struct FieldRule {
  const char* member_name = "";
  const char* doc = "";
  bool positive = false;       // an integer above 0
  bool null_if_empty = false;  // an empty text becomes null
  bool plain = false;          // samples as number[], which JSON can carry between processes
  bool optional = false;       // left out instead of null if there is no value
  const void* choices = nullptr;

  std::string name() const;  // period_ns is periodNs
};

template <class Owner, class Member>
struct Field : FieldRule {
  using Enum = typename Unwrapped<Member>::Type;

  Member Owner::*member = nullptr;

  constexpr Field says(const char* text) const {
    Field field = *this;
    if (kDescribed) field.doc = text;
    return field;
  }
  constexpr Field above_zero() const {
    static_assert(std::is_unsigned_v<Member>);
    Field field = *this;
    field.positive = true;
    return field;
  }
  constexpr Field or_null() const {
    static_assert(std::is_same_v<Member, std::string>);
    Field field = *this;
    field.null_if_empty = true;
    return field;
  }
  constexpr Field as_array() const {
    static_assert(std::is_same_v<Member, std::vector<double>>);
    Field field = *this;
    field.plain = true;
    return field;
  }
  constexpr Field or_left_out() const {
    static_assert(!std::is_same_v<Member, Enum>);
    Field field = *this;
    field.optional = true;
    return field;
  }
  // `choices` must have static lifetime.
  constexpr Field one_of(const Choices<Enum>& which) const {
    static_assert(std::is_enum_v<Enum>);
    Field field = *this;
    field.choices = &which;
    return field;
  }
};

template <class Owner, class Member>
constexpr Field<Owner, Member> field(const char* name, Member Owner::*member) {
  Field<Owner, Member> made;
  made.member_name = name;
  made.member = member;
  return made;
}

#define GVB_FIELD(member) ::gvb::field(#member, &Self::member)

// Specialised for every struct that crosses to JavaScript: `kName` and `kDoc` in TypeScript, `Base` (void: none), and
// each(visit), which passes the fields to `visit` one by one.
template <class Struct>
struct Fields;

template <class Struct, class BaseStruct = void>
struct FieldsOf {
  using Self = Struct;
  using Base = BaseStruct;
  static constexpr const char* kDoc = "";
};

template <class T, class = void>
inline constexpr bool kHasFields = false;
template <class T>
inline constexpr bool kHasFields<T, std::void_t<decltype(Fields<T>::kName)>> = true;

}  // namespace gvb

// How each C++ type is read from a request, written to a result, and named in TypeScript.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "addon/fields.h"
#include "addon/js.h"
#include "addon/types.h"
#include "bench/target.h"

namespace gvb {

template <class T, class = void>
struct Conversion;

template <class Struct>
Struct read(const js::Request& request);

template <class T>
js::Value to_js(js::Env env, const T& value) {
  return Conversion<T>::write(env, value, FieldRule());
}

template <class T>
std::string type_of(Types& types) {
  return Conversion<T>::type(types, FieldRule());
}

// The result of a function that returns nothing.
struct Nothing {};
template <>
struct Conversion<Nothing> {
  static js::Value write(js::Env env, const Nothing&, const FieldRule&) { return js::undefined(env); }
  static std::string type(Types&, const FieldRule&) { return "void"; }
};

template <>
struct Conversion<bool> {
  static bool read(const js::Request& request, const FieldRule& field) { return request.flag(field.name()); }
  static js::Value write(js::Env env, bool value, const FieldRule&) { return js::boolean(env, value); }
  static std::string type(Types&, const FieldRule&) { return "boolean"; }
};

template <>
struct Conversion<double> {
  static double read(const js::Request& request, const FieldRule& field) { return request.number(field.name()); }
  static js::Value write(js::Env env, double value, const FieldRule&) { return js::number(env, value); }
  static std::string type(Types&, const FieldRule&) { return "number"; }
};

// A signed integer is a time of now_ns(), which exceeds 2^53 after 104 days without a restart.
template <class Integer>
struct Conversion<Integer, std::enable_if_t<std::is_integral_v<Integer>>> {
  static Integer read(const js::Request& request, const FieldRule& field) {
    if constexpr (std::is_unsigned_v<Integer>)
      return static_cast<Integer>(request.integer(field.name(), field.positive ? js::Least::kOne : js::Least::kZero,
                                                  std::numeric_limits<Integer>::max()));
    else
      return static_cast<Integer>(request.signed_integer(field.name(), std::numeric_limits<Integer>::max()));
  }
  static js::Value write(js::Env env, Integer value, const FieldRule&) {
    return js::number(env, static_cast<double>(value));
  }
  static std::string type(Types&, const FieldRule&) { return "number"; }
};

template <>
struct Conversion<std::string> {
  static std::string read(const js::Request& request, const FieldRule& field) { return request.text(field.name()); }
  static js::Value write(js::Env env, const std::string& value, const FieldRule& field) {
    return field.null_if_empty && value.empty() ? js::null(env) : js::text(env, value);
  }
  static std::string type(Types&, const FieldRule& field) { return field.null_if_empty ? "string | null" : "string"; }
};

template <>
struct Conversion<const char*> {
  static js::Value write(js::Env env, const char* value, const FieldRule&) { return js::text(env, value); }
  static std::string type(Types&, const FieldRule&) { return "string"; }
};

template <class Enum>
struct Conversion<Enum, std::enable_if_t<std::is_enum_v<Enum>>> {
  static Enum read(const js::Request& request, const FieldRule& field) {
    std::vector<const char*> texts;
    for (const auto& [value, text] : choices(field).list) texts.push_back(text);
    return choices(field).list[request.choice(field.name(), texts)].first;
  }
  static js::Value write(js::Env env, Enum value, const FieldRule& field) {
    for (const auto& [known, text] : choices(field).list)
      if (known == value) return js::text(env, text);
    return js::null(env);
  }
  static std::string type(Types& types, const FieldRule& field) {
    std::string text;
    for (const auto& choice : choices(field).list)
      text += (text.empty() ? "'" : " | '") + std::string(choice.second) + "'";
    std::string name = choices(field).name;
    if (name.empty()) return text;
    if (!types.knows(name)) types.add({name, "", "", text, {}});
    return name;
  }

 private:
  static const Choices<Enum>& choices(const FieldRule& field) {
    return *static_cast<const Choices<Enum>*>(field.choices ? field.choices : kChoicesOf<Enum>);
  }
};

template <class T>
struct Conversion<std::optional<T>> {
  static std::optional<T> read(const js::Request& request, const FieldRule& field) {
    if (request.is_null(field.name())) return std::nullopt;
    return Conversion<T>::read(request, field);
  }
  static js::Value write(js::Env env, const std::optional<T>& value, const FieldRule& field) {
    return value ? Conversion<T>::write(env, *value, field) : js::null(env);
  }
  static std::string type(Types& types, const FieldRule& field) {
    return Conversion<T>::type(types, field) + (field.optional ? "" : " | null");
  }
};

template <class List>
js::Value list_to_js(js::Env env, const List& items) {
  const js::Value array = js::array(env, items.size());
  size_t index = 0;
  for (const auto& item : items) js::set(env, array, index++, to_js(env, item));
  return array;
}

template <class T>
struct Conversion<std::vector<T>> {
  static std::vector<T> read(const js::Request& request, const FieldRule& field) {
    static_assert(std::is_same_v<T, uint64_t> || std::is_same_v<T, std::string>);
    if constexpr (std::is_same_v<T, std::string>)
      return request.texts(field.name());
    else
      return request.integers(field.name());
  }
  static js::Value write(js::Env env, const std::vector<T>& items, const FieldRule& field) {
    if constexpr (std::is_same_v<T, double>)
      if (!field.plain) return js::float64_array(env, items);
    return list_to_js(env, items);
  }
  static std::string type(Types& types, const FieldRule& field) {
    return std::is_same_v<T, double> && !field.plain ? "Float64Array" : type_of<T>(types) + "[]";
  }
};

template <class T, size_t N>
struct Conversion<std::array<T, N>> {
  static js::Value write(js::Env env, const std::array<T, N>& items, const FieldRule&) {
    return list_to_js(env, items);
  }
  static std::string type(Types& types, const FieldRule&) { return type_of<T>(types) + "[]"; }
};

template <>
struct Conversion<DeviceSelector> {
  static DeviceSelector read(const js::Request& request, const FieldRule& field) {
    if (request.is_null(field.name())) return std::monostate();
    if (request.is_text(field.name())) return request.text(field.name());
    return static_cast<int>(request.integer(field.name(), js::Least::kZero, std::numeric_limits<int>::max()));
  }
  static std::string type(Types&, const FieldRule&) { return "number | string | null"; }
};

// A struct with a list of fields.
template <class Struct>
struct Conversion<Struct, std::enable_if_t<kHasFields<Struct>>> {
  using Base = typename Fields<Struct>::Base;

  static void read_into(const js::Request& request, Struct& out) {
    if constexpr (!std::is_void_v<Base>) Conversion<Base>::read_into(request, out);
    Fields<Struct>::each([&](const auto& field) {
      auto& member = out.*field.member;
      member = Conversion<std::decay_t<decltype(member)>>::read(request, field);
    });
  }

  static js::Value write(js::Env env, const Struct& value, const FieldRule&) {
    const js::Value object = js::object(env);
    write_into(env, object, value);
    return object;
  }

  static void write_into(js::Env env, js::Value object, const Struct& value) {
    if constexpr (!std::is_void_v<Base>) Conversion<Base>::write_into(env, object, value);
    Fields<Struct>::each([&](const auto& field) {
      const auto& member = value.*field.member;
      using Member = std::decay_t<decltype(member)>;
      const js::Value written = Conversion<Member>::write(env, member, field);
      if (!field.optional || !left_out(member)) js::set(env, object, field.name(), written);
    });
  }

  static std::string type(Types& types, const FieldRule&) {
    std::string name = Fields<Struct>::kName;
    if (types.knows(name)) return name;
    DescribedType described{name, Fields<Struct>::kDoc, "", "", {}};
    if constexpr (!std::is_void_v<Base>) described.base = type_of<Base>(types);
    Fields<Struct>::each([&](const auto& field) {
      using Member = std::decay_t<decltype(std::declval<Struct>().*field.member)>;
      described.fields.push_back({field.name(), Conversion<Member>::type(types, field), field.doc, field.optional});
    });
    types.add(std::move(described));
    return name;
  }

 private:
  template <class T>
  static bool left_out(const std::optional<T>& member) {
    return !member;
  }
  template <class T>
  static bool left_out(const T&) {
    return false;
  }
};

template <class Struct>
Struct read(const js::Request& request) {
  Struct out;
  Conversion<Struct>::read_into(request, out);
  return out;
}

}  // namespace gvb

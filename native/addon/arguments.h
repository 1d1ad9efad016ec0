// Reading the fields of a request object. lib/ has checked ranges and explained them; what is left here keeps a wrong
// type from reaching C++.
#pragma once

#include <napi.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_session.h"

namespace gvb {

class Fields {
 public:
  explicit Fields(const Napi::Value& value) : env_(value.Env()) {
    if (!value.IsObject()) fail("a request object", "");
    object_ = value.As<Napi::Object>();
  }

  double number(const char* name) const {
    const Napi::Value field = object_.Get(name);
    if (!field.IsNumber() || !std::isfinite(field.As<Napi::Number>().DoubleValue())) fail("a finite number", name);
    return field.As<Napi::Number>().DoubleValue();
  }

  template <class Integer>
  Integer integer(const char* name) const {
    const double value = number(name);
    if (!is_integer(value)) fail("a non-negative integer", name);
    if (value > static_cast<double>(std::numeric_limits<Integer>::max()))
      fail(("an integer of at most " + std::to_string(std::numeric_limits<Integer>::max())).c_str(), name);
    return static_cast<Integer>(value);
  }

  // Nanoseconds of CLOCK_MONOTONIC_RAW, which exceed 2^53 after 104 days without a restart.
  int64_t time_ns(const char* name) const { return static_cast<int64_t>(number(name)); }

  std::optional<int64_t> optional_time_ns(const char* name) const {
    if (object_.Get(name).IsNull()) return std::nullopt;
    return time_ns(name);
  }

  bool flag(const char* name) const {
    const Napi::Value field = object_.Get(name);
    if (!field.IsBoolean()) fail("true or false", name);
    return field.As<Napi::Boolean>();
  }

  template <class Integer>
  Integer positive(const char* name) const {
    const auto value = integer<Integer>(name);
    if (value == 0) fail("a positive integer", name);
    return value;
  }

  std::vector<uint64_t> integers(const char* name) const {
    const Napi::Value field = object_.Get(name);
    if (!field.IsArray()) fail("an array of non-negative integers", name);
    const auto array = field.As<Napi::Array>();
    std::vector<uint64_t> numbers;
    for (uint32_t i = 0; i < array.Length(); ++i) {
      const Napi::Value entry = array[i];
      const double number = entry.IsNumber() ? entry.As<Napi::Number>().DoubleValue() : -1;
      if (!is_integer(number)) fail("an array of non-negative integers", name);
      numbers.push_back(static_cast<uint64_t>(number));
    }
    return numbers;
  }

  std::string text(const char* name) const {
    const Napi::Value field = object_.Get(name);
    if (!field.IsString()) fail("a string", name);
    return field.As<Napi::String>();
  }

  // The position of the field's text among `choices`, as the enumerator with that value.
  template <class Enum, size_t N>
  Enum choice(const char* name, const char* const (&choices)[N]) const {
    const std::string value = text(name);
    for (size_t i = 0; i < N; ++i)
      if (value == choices[i]) return static_cast<Enum>(i);
    fail("a known choice", name);
  }

  SymbolPath path() const { return choice<SymbolPath>("path", {"runtime", "dlsym", "linked", "bare"}); }

  std::optional<std::string> simulated_folder() const {
    if (object_.Get("simulatedDriver").IsNull()) return std::nullopt;
    return text("simulatedDriver");
  }

  DeviceSelector device() const {
    if (object_.Get("device").IsNull()) return std::monostate();
    if (object_.Get("device").IsString()) return text("device");
    return integer<int>("device");
  }

 private:
  static bool is_integer(double value) {
    return value >= 0 && value <= 9007199254740991.0 && value == std::floor(value);
  }
  [[noreturn]] void fail(const char* expected, const std::string& field) const {
    throw Napi::TypeError::New(env_,
                               "Expected " + std::string(expected) + (field.empty() ? "" : " for " + field) + ".");
  }

  Napi::Env env_;
  Napi::Object object_;
};

// Session numbers begin at 1; what is none names no session.
inline uint32_t session_id(const Napi::Value& value) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
  const bool valid = number >= 1 && number <= std::numeric_limits<uint32_t>::max() && number == std::floor(number);
  if (!valid) throw Napi::TypeError::New(value.Env(), "Expected a session's number.");
  return static_cast<uint32_t>(number);
}

}  // namespace gvb

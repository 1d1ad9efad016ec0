// JavaScript values through Node-API's C types: only a few files here need its C++ wrapper, which is slow to compile.
#pragma once

#include <node_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gvb::js {

using Env = napi_env;
using Value = napi_value;

Value null(Env env);
Value undefined(Env env);
Value boolean(Env env, bool value);
Value number(Env env, double value);
Value text(Env env, const std::string& value);
Value float64_array(Env env, const std::vector<double>& samples);
Value object(Env env);
void set(Env env, Value object, const std::string& name, Value value);
Value array(Env env, size_t length);
void set(Env env, Value array, size_t index, Value value);

// The arguments of one call. Missing ones are undefined.
struct Call {
  Env env;
  std::vector<Value> arguments;

  Value operator[](size_t index) const { return index < arguments.size() ? arguments[index] : undefined(env); }
};

enum class Least { kZero, kOne };

// A request object. lib/ has already checked and explained ranges; this only keeps wrong types from C++: every method
// throws a TypeError into JavaScript if the field has another type.
class Request {
 public:
  Request(Env env, Value value);

  bool is_null(const std::string& field) const;
  bool is_text(const std::string& field) const;
  bool flag(const std::string& field) const;
  double number(const std::string& field) const;  // finite
  uint64_t integer(const std::string& field, Least least, uint64_t most) const;
  // Cuts a fraction off. Beyond 2^53 the numbers of JavaScript are no integers.
  int64_t signed_integer(const std::string& field, int64_t most) const;
  std::vector<uint64_t> integers(const std::string& field) const;
  std::string text(const std::string& field) const;
  std::vector<std::string> texts(const std::string& field) const;
  // The index of the field's text in `texts`.
  size_t choice(const std::string& field, const std::vector<const char*>& texts) const;

 private:
  Value get(const std::string& field) const;
  [[noreturn]] void fail(const std::string& expected, const std::string& field) const;

  Env env_;
  Value object_;
};

// Returns `otherwise` if it is not a number.
double number_or(Env env, Value value, double otherwise);

[[noreturn]] void fail_type(Env env, const std::string& message);

}  // namespace gvb::js

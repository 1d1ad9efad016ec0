#include "addon/js.h"

#include <napi.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gvb::js {

namespace {

constexpr double kLargestInteger = 9007199254740991.0;  // 2^53 - 1

bool is_integer(double value) { return value >= 0 && value <= kLargestInteger && value == std::floor(value); }

}  // namespace

Value null(Env env) { return Napi::Env(env).Null(); }
Value undefined(Env env) { return Napi::Env(env).Undefined(); }
Value boolean(Env env, bool value) { return Napi::Boolean::New(env, value); }
Value number(Env env, double value) { return Napi::Number::New(env, value); }
Value text(Env env, const std::string& value) { return Napi::String::New(env, value); }

Value float64_array(Env env, const std::vector<double>& samples) {
  auto array = Napi::Float64Array::New(env, samples.size());
  if (!samples.empty()) std::memcpy(array.Data(), samples.data(), samples.size() * sizeof(double));
  return array;
}

Value object(Env env) { return Napi::Object::New(env); }
void set(Env env, Value object, const std::string& name, Value value) { Napi::Object(env, object).Set(name, value); }
Value array(Env env, size_t length) { return Napi::Array::New(env, length); }
void set(Env env, Value array, size_t index, Value value) {
  Napi::Array(env, array).Set(static_cast<uint32_t>(index), value);
}

double number_or(Env env, Value value, double otherwise) {
  const Napi::Value given(env, value);
  return given.IsNumber() ? given.As<Napi::Number>().DoubleValue() : otherwise;
}

void fail_type(Env env, const std::string& message) { throw Napi::TypeError::New(env, message); }

Request::Request(Env env, Value value) : env_(env), object_(value) {
  if (!Napi::Value(env, value).IsObject()) fail_type(env, "Expected a request object.");
}

Value Request::get(const std::string& field) const { return Napi::Object(env_, object_).Get(field); }

void Request::fail(const std::string& expected, const std::string& field) const {
  fail_type(env_, "Expected " + expected + " for " + field + ".");
}

bool Request::is_null(const std::string& field) const { return Napi::Value(env_, get(field)).IsNull(); }
bool Request::is_text(const std::string& field) const { return Napi::Value(env_, get(field)).IsString(); }

bool Request::flag(const std::string& field) const {
  const Napi::Value value(env_, get(field));
  if (!value.IsBoolean()) fail("true or false", field);
  return value.As<Napi::Boolean>();
}

double Request::number(const std::string& field) const {
  const Napi::Value value(env_, get(field));
  if (!value.IsNumber() || !std::isfinite(value.As<Napi::Number>().DoubleValue())) fail("a finite number", field);
  return value.As<Napi::Number>().DoubleValue();
}

uint64_t Request::integer(const std::string& field, Least least, uint64_t most) const {
  const double value = number(field);
  const bool zero = least == Least::kZero;
  if (!is_integer(value) || (value == 0 && !zero)) fail(zero ? "a non-negative integer" : "a positive integer", field);
  if (value > static_cast<double>(most)) fail("an integer of at most " + std::to_string(most), field);
  return static_cast<uint64_t>(value);
}

int64_t Request::signed_integer(const std::string& field, int64_t most) const {
  const double value = number(field), limit = std::min(static_cast<double>(most), kLargestInteger);
  if (value < -limit || value > limit)
    fail("a number from -" + std::to_string(static_cast<int64_t>(limit)) + " to " +
             std::to_string(static_cast<int64_t>(limit)),
         field);
  return static_cast<int64_t>(value);
}

std::vector<uint64_t> Request::integers(const std::string& field) const {
  const Napi::Value value(env_, get(field));
  if (!value.IsArray()) fail("an array of non-negative integers", field);
  const auto array = value.As<Napi::Array>();
  std::vector<uint64_t> numbers;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value entry = array[i];
    const double number = entry.IsNumber() ? entry.As<Napi::Number>().DoubleValue() : -1;
    if (!is_integer(number)) fail("an array of non-negative integers", field);
    numbers.push_back(static_cast<uint64_t>(number));
  }
  return numbers;
}

std::string Request::text(const std::string& field) const {
  const Napi::Value value(env_, get(field));
  if (!value.IsString()) fail("a string", field);
  return value.As<Napi::String>();
}

std::vector<std::string> Request::texts(const std::string& field) const {
  const Napi::Value value(env_, get(field));
  if (!value.IsArray()) fail("an array of strings", field);
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value entry = array[i];
    if (!entry.IsString()) fail("an array of strings", field);
    texts.push_back(entry.As<Napi::String>());
  }
  return texts;
}

size_t Request::choice(const std::string& field, const std::vector<const char*>& texts) const {
  const std::string value = text(field);
  for (size_t i = 0; i < texts.size(); ++i)
    if (value == texts[i]) return i;
  fail("a known choice", field);
}

}  // namespace gvb::js

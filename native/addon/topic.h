// The functions of one topic. Each topic's file in this folder registers its own; addon.cpp exports all.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "addon/conversion.h"

namespace gvb {

class DeviceSession;

// Creates the value that a promise resolves to; called on the environment's thread.
using Result = std::function<js::Value(js::Env)>;

// "(session: number, request: WorkRequest): Promise<Work>"
using Signature = std::function<std::string(Types&)>;

// `make` is generic, so that it is only compiled where the addon describes itself.
template <class Make>
Signature described([[maybe_unused]] Make make) {
  if constexpr (kDescribed) return make;
  return nullptr;
}

struct Function {
  std::string name;
  std::function<js::Value(const js::Call&)> call;
  Signature signature;
  std::string doc = "";

  Function says(const char* text) && {
    if (kDescribed) doc = text;
    return std::move(*this);
  }
};

class Topic {
 public:
  Topic(const char* heading, std::vector<Function> functions);
  Topic(const Topic&) = delete;
  Topic& operator=(const Topic&) = delete;

  // All topics, sorted by heading.
  static std::vector<const Topic*> all();

  const std::string heading;
  const std::vector<Function> functions;
};

// Runs work on the executor, on the session that the first argument names, or without one.
js::Value promise_in_session(const js::Call& call, std::function<Result(DeviceSession&)> work);
js::Value promise_of(const js::Call& call, std::function<Result()> work);

template <class T>
Result result_of(T value) {
  return [value = std::move(value)](js::Env env) { return to_js(env, value); };
}

// Runs `measure` with a request on a session.
template <class T, class Request>
Function in_session(const char* name, T (*measure)(DeviceSession&, const Request&)) {
  return {name,
          [measure](const js::Call& call) {
            return promise_in_session(call,
                                      [measure, request = read<Request>({call.env, call[1]})](DeviceSession& session) {
                                        return result_of(measure(session, request));
                                      });
          },
          described([](auto& types) {
            const std::string request = type_of<Request>(types);
            return "(session: number, request: " + request + "): Promise<" + type_of<T>(types) + ">";
          })};
}

template <class T>
Function in_session(const char* name, T (*look)(DeviceSession&)) {
  return {name,
          [look](const js::Call& call) {
            return promise_in_session(call, [look](DeviceSession& session) { return result_of(look(session)); });
          },
          described([](auto& types) { return "(session: number): Promise<" + type_of<T>(types) + ">"; })};
}

// Runs on the executor, without a session.
template <class T, class Request>
Function without_session(const char* name, T (*measure)(const Request&)) {
  return {name,
          [measure](const js::Call& call) {
            return promise_of(
                call, [measure, request = read<Request>({call.env, call[0]})] { return result_of(measure(request)); });
          },
          described([](auto& types) {
            const std::string request = type_of<Request>(types);
            return "(request: " + request + "): Promise<" + type_of<T>(types) + ">";
          })};
}

// Runs at once, on the caller's thread.
template <class T, class Request>
Function at_once(const char* name, T (*call_it)(const Request&)) {
  return {name,
          [call_it](const js::Call& call) {
            return to_js(call.env, call_it(read<Request>({call.env, call[0]})));
          },
          described([](auto& types) {
            const std::string request = type_of<Request>(types);
            return "(request: " + request + "): " + type_of<T>(types);
          })};
}

template <class T>
Function at_once(const char* name, T (*call_it)()) {
  return {name, [call_it](const js::Call& call) { return to_js(call.env, call_it()); },
          described([](auto& types) { return "(): " + type_of<T>(types); })};
}

}  // namespace gvb

#include "interpose/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace gvb::interpose {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& wanted, const std::string& received) {
  throw std::invalid_argument("Expected " + what + " in GVB_INTERPOSE to be " + wanted + " but received '" + received +
                              "'.");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t to; (to = text.find(separator, from)) != std::string::npos; from = to + 1)
    parts.push_back(text.substr(from, to - from));
  parts.push_back(text.substr(from));
  return parts;
}

struct Unit {
  const char* name;
  double factor;
};

template <size_t N>
double quantity(const std::string& what, const std::string& wanted, const std::string& text, const Unit (&units)[N]) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  for (const Unit& unit : units)
    if (end != text.c_str() && std::strcmp(end, unit.name) == 0 && std::isfinite(number) && number >= 0)
      return number * unit.factor;
  refuse(what, wanted, text);
}

constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
constexpr Unit kPercent[] = {{"", 1}, {"%", 1}};

int64_t delay(const std::string& function, const std::string& text) {
  constexpr const char* kWanted = "a delay such as +250ns, +5us or +1ms";
  // strtod takes the sign; it is there to say that the delay is added.
  if (text.empty() || text[0] != '+') refuse(function, kWanted, text);
  return std::llround(quantity(function, kWanted, text, kTimes));
}

void set_hooks(Settings& settings, const std::string& text) {
  settings.hooks_dlsym = settings.hooks_procaddress = false;
  for (const std::string& mechanism : split(text, '+')) {
    if (mechanism == "dlsym")
      settings.hooks_dlsym = true;
    else if (mechanism == "procaddress")
      settings.hooks_procaddress = true;
    else if (mechanism != "export")  // an ELF object cannot choose its exports at run time: this one always applies
      refuse("hooks", "a list of export, dlsym and procaddress joined by +", text);
  }
}

void hook(Settings& settings, const char* function) { settings.hooked[cuda_function_index(function)] = true; }

void set_memory(Settings& settings, const std::string& text) {
  constexpr Unit kUnits[] = {{"", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  settings.memory_limit = static_cast<uint64_t>(quantity("memory", "a size such as 4GiB", text, kUnits));
  if (settings.memory_limit == 0) refuse("memory", "more than 0", text);
  for (const char* function : {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemGetInfo_v2", "cuDeviceTotalMem_v2"})
    hook(settings, function);
}

unsigned percentage(const std::string& what, const std::string& text) {
  constexpr const char* kWanted = "a percentage from 1 to 100";
  const double percent = quantity(what, kWanted, text, kPercent);
  if (percent < 1 || percent > 100) refuse(what, kWanted, text);
  return static_cast<unsigned>(percent);
}

void set_sm(Settings& settings, const std::string& text) {
  settings.sm_percent = percentage("sm", text);
  for (const char* function : {"cuLaunchKernel", "cuLaunchKernelEx"}) hook(settings, function);
}

void set_per_live(Settings& settings, const std::string& text) {
  settings.per_live_ns = quantity("perlive", "a time such as 5ns", text, kTimes);
  // Without the first it would not know what is live.
  hook(settings, "cuMemAlloc_v2");
  for (const char* function : kPerLiveFunctions) hook(settings, function);
}

void set_token(Settings& settings, const std::string& text) {
  const size_t at = text.find('@');
  const double time = quantity("token", "a time such as 100ns or 100ns@50", text.substr(0, at), kTimes);
  const bool limits = at == std::string::npos || percentage("token", text.substr(at + 1)) < 100;
  for (const char* function : {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel"}) {
    hook(settings, function);
    if (limits) settings.delay_ns[cuda_function_index(function)] += std::llround(time);
  }
}

void set_lock(Settings& settings, const std::string& text) {
  constexpr const char* kWanted = "a time above 0 such as 20us";
  settings.lock_ns = std::llround(quantity("lock", kWanted, text, kTimes));
  if (settings.lock_ns == 0) refuse("lock", kWanted, text);
}

void set_state(Settings& settings, const std::string& text) {
  if (text.empty() || text[0] != '/') refuse("state", "an absolute path", text);
  settings.state = text;
}

void set_poll(Settings& settings, const std::string& text) {
  constexpr const char* kWanted = "a percentage from 0 to 100";
  settings.poll_percent = quantity("poll", kWanted, text, kPercent);
  if (settings.poll_percent > 100) refuse("poll", kWanted, text);
  hook(settings, "cuInit");
}

// What would have no effect was meant otherwise.
void refuse_idle(const Settings& settings, const std::string& text) {
  const bool* end = settings.hooked + kCudaFunctionCount;
  if (settings.lock_ns > 0 && std::find(settings.hooked, end, true) == end)
    refuse("lock", "beside a function that it is for, such as cuMemAlloc_v2=+0ns", text);
  if (!settings.state.empty() && settings.lock_ns == 0) refuse("state", "beside a lock", text);
}

struct Key {
  const char* name;
  void (*set)(Settings&, const std::string&);
};

constexpr Key kKeys[] = {{"memory", set_memory}, {"sm", set_sm},       {"perlive", set_per_live}, {"token", set_token},
                         {"lock", set_lock},     {"state", set_state}, {"poll", set_poll},        {"hooks", set_hooks}};

void set(Settings& settings, const std::string& key, const std::string& value) {
  for (const Key& known : kKeys)
    if (key == known.name) return known.set(settings, value);
  const size_t function = cuda_function_index(key.c_str());
  if (function == kCudaFunctionCount)
    refuse("a key",
           "memory, sm, perlive, token, lock, state, poll, hooks or an exported driver function such as "
           "cuLaunchKernel",
           key);
  settings.hooked[function] = true;
  settings.delay_ns[function] += delay(key, value);
}

}  // namespace

Settings parse_settings(const std::string& text) {
  Settings settings;
  if (text.empty()) return settings;
  for (const std::string& item : split(text, ',')) {
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    set(settings, key, value);
  }
  refuse_idle(settings, text);
  return settings;
}

}  // namespace gvb::interpose

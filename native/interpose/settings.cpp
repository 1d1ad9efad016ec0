#include "interpose/settings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

#include "base/text.h"

namespace gvb::interpose {

namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& wanted, const std::string& received) {
  throw std::invalid_argument("Expected " + what + " in GVB_INTERPOSE to be " + wanted + " but received '" + received +
                              "'.");
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
  // The + is required, as a reminder that the delay is added; strtod accepts it.
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
    else if (mechanism != "export")  // an ELF object cannot choose its exports at run time, so "export" always applies
      refuse("hooks", "a list of export, dlsym and procaddress joined by +", text);
  }
}

void hook(Settings& settings, const char* function) { settings.hooked[cuda_function_index(function)] = true; }

constexpr Unit kSizes[] = {{"", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};

uint64_t size_of(const std::string& what, const std::string& text) {
  const auto bytes = static_cast<uint64_t>(quantity(what, "a size such as 4GiB", text, kSizes));
  if (bytes == 0) refuse(what, "more than 0", text);
  return bytes;
}

void account(Settings& settings, std::initializer_list<const char*> functions, bool count) {
  for (const char* function : functions) {
    hook(settings, function);
    settings.accounted[cuda_function_index(function)] = true;
    settings.counts[cuda_function_index(function)] = count;
  }
}

void show(Settings& settings) {
  for (const char* function : {"cuMemGetInfo_v2", "cuDeviceTotalMem_v2"}) hook(settings, function);
}

void set_memory(Settings& settings, const std::string& text) {
  settings.memory_limit = size_of("memory", text);
  account(settings, {"cuMemAlloc_v2"}, true);
  account(settings, {"cuMemFree_v2"}, false);
  show(settings);
}

void set_quota(Settings& settings, const std::string& text) {
  settings.memory_limit = size_of("quota", text);
  account(settings,
          {"cuMemAlloc_v2", "cuMemAllocPitch_v2", "cuMemAllocManaged", "cuMemAllocAsync", "cuMemAllocFromPoolAsync",
           "cuMemCreate", "cuArrayCreate_v2"},
          true);
  account(settings, {"cuMemFree_v2", "cuMemFreeAsync", "cuMemRelease", "cuArrayDestroy", "cuDevicePrimaryCtxRetain"},
          false);
  show(settings);
}

void set_context(Settings& settings, const std::string& text) { settings.context_bytes = size_of("context", text); }

void set_shows(Settings& settings, const std::string& text) {
  settings.shown_bytes = size_of("shows", text);
  show(settings);
}

void set_forgets(Settings& settings, const std::string& text) { settings.forgotten_bytes = size_of("forgets", text); }

void set_ignores(Settings& settings, const std::string& text) {
  for (const std::string& function : split(text, '+')) {
    const size_t index = cuda_function_index(function.c_str());
    if (index == kCudaFunctionCount || !settings.counts[index])
      refuse("ignores", "functions that a preceding quota counts, joined by +", text);
    settings.counts[index] = false;
  }
}

void set_refusal(Settings& settings, const std::string& text) {
  char* end = nullptr;
  const long code = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || code == 0 || code < -1 || code > 999)
    refuse("refusal", "a driver's code such as 1 or -1, and not 0", text);
  settings.refusal = static_cast<abi::CUresult>(code);
}

void set_grants(Settings& settings, const std::string& text) {
  if (text == "nothing")
    settings.grants = Grants::kNothing;
  else if (text == "twice")
    settings.grants = Grants::kTwice;
  else
    refuse("grants", "nothing or twice", text);
}

void set_ahead(Settings& settings, const std::string& text) {
  constexpr Unit kBlocks[] = {{"", 1}};
  constexpr const char* kWanted = "a number of blocks from 2 on";
  const size_t at = text.find('@');
  settings.ahead = static_cast<uint64_t>(quantity("ahead", kWanted, text.substr(0, at), kBlocks));
  if (settings.ahead < 2) refuse("ahead", kWanted, text);
  if (at != std::string::npos) settings.ahead_bytes = size_of("ahead", text.substr(at + 1));
}

struct AheadPath {
  const char* allocation;
  const char* free;
};
constexpr AheadPath kAheadPaths[] = {{"cuMemAlloc_v2", "cuMemFree_v2"},
                                     {"cuMemCreate", "cuMemRelease"},
                                     {"cuMemAllocAsync", "cuMemFreeAsync"},
                                     {"cuMemAllocFromPoolAsync", "cuMemFreeAsync"}};

void set_ahead_paths(Settings& settings, const std::string& text) {
  for (const std::string& path : split(text, '+')) {
    const auto known = std::find_if(std::begin(kAheadPaths), std::end(kAheadPaths),
                                    [&](const AheadPath& each) { return path == each.allocation; });
    if (known == std::end(kAheadPaths))
      refuse("aheadpaths", "some of cuMemAlloc_v2, cuMemCreate, cuMemAllocAsync and cuMemAllocFromPoolAsync", path);
    settings.takes_ahead[cuda_function_index(known->allocation)] = true;
  }
}

// Counts frees too, or a limit would not know what is live.
void hook_ahead(Settings& settings) {
  bool* takes = settings.takes_ahead;
  const bool named = std::find(takes, takes + kCudaFunctionCount, true) != takes + kCudaFunctionCount;
  if (!named) takes[cuda_function_index(kAheadPaths[0].allocation)] = true;
  for (const AheadPath& path : kAheadPaths) {
    if (!takes[cuda_function_index(path.allocation)]) continue;
    account(settings, {path.allocation}, true);
    account(settings, {path.free}, false);
  }
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
  // Counts allocations too, or it would not know what is live.
  account(settings, {"cuMemAlloc_v2"}, true);
  account(settings, {"cuMemFree_v2"}, false);
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

constexpr const char* kSharePaths[] = {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel",
                                       "cuGraphLaunch"};

void set_share(Settings& settings, const std::string& text) {
  const size_t at = text.find('@');
  settings.share.percent = percentage("share", text.substr(0, at));
  settings.share.given = true;
  if (at != std::string::npos)
    settings.share.period_ns =
        std::llround(quantity("share", "a share such as 30 or 30@20ms", text.substr(at + 1), kTimes));
}

int64_t share_time(const std::string& key, const std::string& text) {
  return std::llround(quantity(key, "a time such as 500ms", text, kTimes));
}
void set_share_from(Settings& settings, const std::string& text) {
  settings.share.from_ns = share_time("sharefrom", text);
}
void set_share_swings(Settings& settings, const std::string& text) {
  settings.share.swings_ns = share_time("shareswings", text);
}

void set_share_lag(Settings& settings, const std::string& text) {
  settings.share.lag_ns = share_time("sharelag", text);
}

void set_share_grid(Settings& settings, const std::string& text) {
  constexpr Unit kBlocks[] = {{"", 1}};
  settings.share.least_blocks = static_cast<uint64_t>(quantity("sharegrid", "a number of blocks", text, kBlocks));
}

void set_share_paths(Settings& settings, const std::string& text) {
  for (const std::string& path : split(text, '+')) {
    const auto known = std::find(std::begin(kSharePaths), std::end(kSharePaths), path);
    if (known == std::end(kSharePaths))
      refuse("sharepaths", "some of cuLaunchKernel, cuLaunchKernelEx, cuLaunchCooperativeKernel and cuGraphLaunch",
             path);
    settings.share.limits[cuda_function_index(*known)] = true;
  }
}

// Limits all paths if none is named.
void hook_shared(Settings& settings) {
  bool* limits = settings.share.limits;
  const bool named = std::find(limits, limits + kCudaFunctionCount, true) != limits + kCudaFunctionCount;
  for (const char* path : kSharePaths) {
    const size_t function = cuda_function_index(path);
    if (!named) limits[function] = true;
    if (limits[function]) hook(settings, path);
  }
}

void set_lock(Settings& settings, const std::string& text) {
  constexpr const char* kWanted = "a time above 0 such as 20us";
  settings.lock_ns = std::llround(quantity("lock", kWanted, text, kTimes));
  if (settings.lock_ns == 0) refuse("lock", kWanted, text);
}

void set_stale(Settings& settings, const std::string& text) {
  settings.stale_ns = std::llround(quantity("stale", "a time such as 300ms", text, kTimes));
}

std::string absolute_path(const std::string& what, const std::string& text) {
  if (text.empty() || text[0] != '/') refuse(what, "an absolute path", text);
  return text;
}

void set_share_file(Settings& settings, const std::string& text) {
  settings.share.file = absolute_path("sharefile", text);
}

void set_state(Settings& settings, const std::string& text) { settings.state = absolute_path("state", text); }

void set_pool(Settings& settings, const std::string& text) { settings.pool = absolute_path("pool", text); }

void set_poll(Settings& settings, const std::string& text) {
  constexpr const char* kWanted = "a percentage from 0 to 100";
  settings.poll_percent = quantity("poll", kWanted, text, kPercent);
  if (settings.poll_percent > 100) refuse("poll", kWanted, text);
  hook(settings, "cuInit");
}

// Refuses settings that would have no effect: they are mistakes.
void refuse_idle(const Settings& settings, const std::string& text) {
  const bool* end = settings.hooked + kCudaFunctionCount;
  if (settings.lock_ns > 0 && std::find(settings.hooked, end, true) == end)
    refuse("lock", "used together with a function to hook, such as cuMemAlloc_v2=+0ns", text);
  if (!settings.state.empty() && settings.lock_ns == 0) refuse("state", "used together with a lock", text);
  if (settings.stale_ns > 0 && settings.state.empty()) refuse("stale", "used together with a state", text);
  const bool* end_of_ahead = settings.takes_ahead + kCudaFunctionCount;
  if (settings.ahead == 0 && std::find(settings.takes_ahead, end_of_ahead, true) != end_of_ahead)
    refuse("aheadpaths", "used together with ahead", text);
  const bool of_limit = settings.refusal != abi::CUDA_ERROR_OUT_OF_MEMORY || settings.grants != Grants::kMemory ||
                        settings.context_bytes > 0 || !settings.pool.empty();
  if (of_limit && settings.memory_limit == 0)
    refuse("refusal, grants, context or pool", "used together with a quota", text);
}

struct Key {
  const char* name;
  void (*set)(Settings&, const std::string&);
};

constexpr Key kKeys[] = {{"memory", set_memory},
                         {"quota", set_quota},
                         {"context", set_context},
                         {"ignores", set_ignores},
                         {"pool", set_pool},
                         {"refusal", set_refusal},
                         {"shows", set_shows},
                         {"forgets", set_forgets},
                         {"grants", set_grants},
                         {"ahead", set_ahead},
                         {"aheadpaths", set_ahead_paths},
                         {"sm", set_sm},
                         {"share", set_share},
                         {"sharefrom", set_share_from},
                         {"shareswings", set_share_swings},
                         {"sharefile", set_share_file},
                         {"sharelag", set_share_lag},
                         {"sharegrid", set_share_grid},
                         {"sharepaths", set_share_paths},
                         {"perlive", set_per_live},
                         {"token", set_token},
                         {"lock", set_lock},
                         {"stale", set_stale},
                         {"state", set_state},
                         {"poll", set_poll},
                         {"hooks", set_hooks}};

void set(Settings& settings, const std::string& key, const std::string& value) {
  for (const Key& known : kKeys)
    if (key == known.name) return known.set(settings, value);
  const size_t function = cuda_function_index(key.c_str());
  if (function == kCudaFunctionCount)
    refuse("a key",
           "memory, quota, context, ignores, pool, refusal, shows, forgets, grants, ahead, aheadpaths, sm, share, "
           "perlive, "
           "token, lock, "
           "stale, state, poll, hooks or an exported driver function such as cuLaunchKernel",
           key);
  settings.hooked[function] = true;
  settings.delay_ns[function] += delay(key, value);
}

}  // namespace

Settings parse_settings(const std::string& text) {
  Settings settings;
  if (text.empty()) return settings;
  for (const std::string& item : split(text, ',')) {
    const auto [key, value] = named_value(item);
    set(settings, key, value);
  }
  if (settings.share.given) hook_shared(settings);
  if (settings.ahead > 0) hook_ahead(settings);
  refuse_idle(settings, text);
  return settings;
}

}  // namespace gvb::interpose

#include "addon/topic.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "addon/executor.h"
#include "addon/job.h"
#include "addon/session_id.h"

namespace gvb {

namespace {

std::vector<const Topic*>& registered() {
  static auto& topics = *new std::vector<const Topic*>;
  return topics;
}

}  // namespace

Topic::Topic(const char* heading_text, std::vector<Function> list) : heading(heading_text), functions(std::move(list)) {
  registered().push_back(this);
}

std::vector<const Topic*> Topic::all() {
  std::vector<const Topic*> topics = registered();
  std::sort(topics.begin(), topics.end(), [](const Topic* a, const Topic* b) { return a->heading < b->heading; });
  return topics;
}

std::string FieldRule::name() const {
  std::string name;
  bool capital = false;
  for (const char* letter = member_name; *letter != '\0'; ++letter) {
    if (*letter != '_')
      name += capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(*letter))) : *letter;
    capital = *letter == '_';
  }
  return name;
}

SessionId session_id(js::Env env, js::Value value) {
  const double number = js::number_or(env, value, 0);
  const bool valid = number >= 1 && number <= std::numeric_limits<SessionId>::max() && number == std::floor(number);
  if (!valid) js::fail_type(env, "Expected a session's number.");
  return static_cast<SessionId>(number);
}

js::Value promise_in_session(const js::Call& call, std::function<Result(DeviceSession&)> work) {
  const SessionId session = session_id(call.env, call[0]);
  const Executor::Owner owner = environment_of(call.env).get();
  return promise(call.env, [&](const std::shared_ptr<Job>& job) {
    Executor::instance().submit_in(owner, session, [job, work = std::move(work)](DeviceSession* device) {
      job->finish([&] {
        if (!device) throw Failure(FailureKind::kAborted, "the session is closed");
        return work(*device);
      });
    });
  });
}

js::Value promise_of(const js::Call& call, std::function<Result()> work) {
  const Executor::Owner owner = environment_of(call.env).get();
  return promise(call.env, [&](const std::shared_ptr<Job>& job) {
    Executor::instance().submit(owner, [job, work = std::move(work)] { job->finish(work); });
  });
}

}  // namespace gvb

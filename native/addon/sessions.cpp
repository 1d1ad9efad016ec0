// Sessions: opening, closing, and cancelling what runs in one.
#include "addon/executor.h"
#include "addon/job.h"
#include "addon/session_id.h"
#include "addon/target_fields.h"
#include "addon/topic.h"

namespace gvb {

struct Confine {
  unsigned multiprocessors = 0;
};

template <>
struct Fields<Confine> : FieldsOf<Confine> {
  static constexpr const char* kName = "Confine";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(multiprocessors).says("The most that its contexts use; 0: all."));
  }
};

namespace {

// Opens a session with the device or, for a coordinator, which makes no CUDA call, without it.
js::Value take_turn(js::Env env, const Executor::OpenDevice& open) {
  const Executor::Owner owner = environment_of(env).get();
  return promise(env, [&](const std::shared_ptr<Job>& job) {
    Executor::instance().submit_open(owner, open, [job](SessionId id, const std::exception_ptr& failure) {
      if (failure)
        job->fail(failure);
      else
        job->finish([id] { return result_of(id); });
    });
  });
}

js::Value open_session(const js::Call& call) {
  const auto target = read<DeviceTarget>({call.env, call[0]});
  return take_turn(call.env, [target](const CancelToken& token) {
    return std::make_unique<DeviceSession>(Driver::load(target.simulated_driver), target, token);
  });
}

js::Value open_turn(const js::Call& call) {
  return take_turn(call.env, [](const CancelToken&) { return nullptr; });
}

js::Value close_session(const js::Call& call) {
  const SessionId session = session_id(call.env, call[0]);
  const Executor::Owner owner = environment_of(call.env).get();
  return promise(call.env, [&](const std::shared_ptr<Job>& job) {
    Executor::instance().submit_close(owner, session, [job] { job->finish([] { return result_of(Nothing()); }); });
  });
}

Nothing confine(const Confine& request) {
  confine_sessions(request.multiprocessors);
  return {};
}

js::Value cancel(const js::Call& call) {
  Executor::instance().cancel(environment_of(call.env).get(), session_id(call.env, call[0]));
  return js::undefined(call.env);
}

Nothing keep_context_of(const DeviceTarget& target) {
  keep_context(Driver::load(target.simulated_driver), target);
  return {};
}

const Topic sessions_topic{
    "Sessions",
    {
        without_session("keepContext", keep_context_of)
            .says("Retains the device's primary context until the process ends, so that sessions on it open at once."),
        at_once("confineSessions", confine)
            .says(
                "From now on every session of this process, and every start that it measures, is in a green context."),
        Function{"openSession", open_session, described([](auto& types) {
                   return "(target: " + type_of<DeviceTarget>(types) + "): Promise<number>";
                 })}
            .says("Waits until no other session of this process is open, then retains the device's primary context."),
        Function{"openTurn", open_turn, described([](auto&) { return std::string("(): Promise<number>"); })}.says(
            "Waits like openSession but uses no device: a turn for a measurement that other processes make."),
        Function{"closeSession", close_session,
                 described([](auto&) { return std::string("(session: number): Promise<void>"); })},
        Function{"cancel", cancel, described([](auto&) { return std::string("(session: number): void"); })}.says(
            "Stops the session's running task at its next sample; that task rejects with kind `aborted`."),
    }};

}  // namespace

}  // namespace gvb

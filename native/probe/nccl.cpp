// NCCL's initialisation with one rank and with two, for programs that link NCCL and for those that load it at run time.
#include <cstring>
#include <string>

#include "driver/nccl_abi.h"
#include "probe/probe.h"
#include "probe/process.h"
#include "probe/token.h"

namespace gvb::probe {
namespace {

using UniqueId = abi::ncclUniqueId;
using Communicator = abi::ncclComm_t;

constexpr Function<int(UniqueId*)> ncclGetUniqueId{{"ncclGetUniqueId"}};
constexpr Function<int(Communicator*, int, UniqueId, int)> ncclCommInitRank{{"ncclCommInitRank"}};
constexpr Function<int(Communicator)> ncclCommDestroy{{"ncclCommDestroy"}};

constexpr const char* kNccl = "libnccl.so.2";

// The token of a second process: where NCCL is, the rank, and the communicator's id.
struct Token {
  char loaded_late;
  char ranks;
  char rank;
  UniqueId id;
};

void load_nccl(Run& run, bool late) {
  report::calls("libnccl.so.2");
  if (!late && dlsym(RTLD_DEFAULT, "ncclGetUniqueId"))
    run.nccl.use_global_scope();
  else if (const std::string reason = late ? run.nccl.open(kNccl, RTLD_NOW) : "not found"; !reason.empty())
    throw Over("NCCL is not installed: " + reason);
}

void join(Run& run, const Token& token) {
  Communicator communicator = nullptr;
  run.need(ncclCommInitRank, &communicator, token.ranks, token.id, token.rank);
  run.need(ncclCommDestroy, communicator);
}

// The driver's GPU of that number, regardless of the GPU under test: two ranks need two GPUs.
void use_gpu(Run& run, int ordinal) {
  run.need(cuda::cuDeviceGet, &run.device, ordinal);
  run.need(cuda::cuDevicePrimaryCtxRetain, &run.context, run.device);
  run.need(cuda::cuCtxSetCurrent, run.context);
}

std::vector<std::string> preloading_nccl() {
  const char* preloads = std::getenv("LD_PRELOAD");
  return environment_with({"LD_PRELOAD=" + (preloads && *preloads ? std::string(preloads) + ":" : "") + kNccl});
}

std::vector<std::string> environment_of(bool late) { return late ? environment_with({}) : preloading_nccl(); }

void all_ranks(Run& run, Token token) {
  load_nccl(run, token.loaded_late);
  run.need(cuda::cuInit, 0);
  int gpus = 0;
  run.need(cuda::cuDeviceGetCount, &gpus);
  if (gpus < token.ranks) throw Over("there are fewer than " + std::to_string(token.ranks) + " GPUs");
  use_gpu(run, 0);
  run.need(ncclGetUniqueId, &token.id);
  Token other = token;
  other.rank = 1;
  const SecondProcess rank{"", token_of(&other, sizeof other), environment_of(token.loaded_late), -1};
  const pid_t pid = token.ranks > 1 ? start(run, rank) : -1;
  join(run, token);
  if (pid > 0) await_end("the second rank", pid);
}

void dlopened(Run& run) { all_ranks(run, {true, 1, 0, {}}); }
void dlopened_by_two(Run& run) { all_ranks(run, {true, 2, 0, {}}); }

// A program linked with NCCL has it in the global scope from the start; preloading has the same effect.
void linked(const Run& run, char ranks) {
  const Token token{false, ranks, 0, {}};
  become(run, {"", token_of(&token, sizeof token), preloading_nccl(), -1});
}

void linked_one(Run& run) { linked(run, 1); }
void linked_two(Run& run) { linked(run, 2); }

void again(Run& run) {
  Token token{};
  read_token(*run.options.token, &token, sizeof token);
  if (token.rank == 0) {
    all_ranks(run, token);
    return run.finish();
  }
  report::silence();
  load_nccl(run, token.loaded_late);
  run.need(cuda::cuInit, 0);
  use_gpu(run, token.rank);
  join(run, token);
}

}  // namespace

Probes nccl_probes() {
  return {
      {"NCCL, 1 rank, linked", "HAMi#1764", linked_one, again},
      {"NCCL, 1 rank, dlopened", "HAMi#2641", dlopened, again},
      {"NCCL, 2 ranks, linked", "HAMi#1461", linked_two, again},
      {"NCCL, 2 ranks, dlopened", "HAMi#2641", dlopened_by_two, again},
  };
}

}  // namespace gvb::probe

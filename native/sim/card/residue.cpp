#include "sim/card/residue.h"

#include <algorithm>
#include <vector>

namespace gvb::sim {
namespace {

bool on_chip(Medium medium) { return medium >= Medium::kShared; }

bool same_memory(const Residue& a, const Residue& b) {
  return a.bytes != 0 && a.place == b.place && a.medium == b.medium;
}

uint64_t common_bytes(const Residue& a, const Residue& b) {
  if (!same_memory(a, b) || a.participant != b.participant || a.address == 0) return 0;
  const uint64_t begin = std::max(a.address, b.address);
  const uint64_t end = std::min(a.address + a.bytes, b.address + b.bytes);
  return end > begin ? end - begin : 0;
}

void add_residue(Residues* residues, const Residue& residue) {
  for (Residue& free : residues->all) {
    if (free.bytes != 0) continue;
    free = residue;
    residues->count.fetch_add(1);
    return;
  }
}

void shrink(Residues* residues, Residue* residue, uint64_t bytes) {
  residue->bytes -= bytes;
  if (residue->bytes == 0) residues->count.fetch_sub(1);
}

// Removes the residues inside `where` and keeps the parts outside it.
void cut_out(Residues* residues, const Residue& where) {
  for (Residue& residue : residues->all) {
    if (common_bytes(residue, where) == 0) continue;
    const uint64_t end = residue.address + residue.bytes, behind = where.address + where.bytes;
    Residue rest = residue;
    const uint64_t before = where.address > residue.address ? where.address - residue.address : 0;
    shrink(residues, &residue, residue.bytes - before);
    if (end <= behind) continue;
    rest.address = behind;
    rest.bytes = end - behind;
    add_residue(residues, rest);
  }
}

}  // namespace

void leave(Residues* residues, const Residue& residue) {
  if (on_chip(residue.medium)) {
    for (Residue& older : residues->all)
      if (same_memory(older, residue)) shrink(residues, &older, older.bytes);
  } else {
    cut_out(residues, residue);
  }
  add_residue(residues, residue);
}

void copied(Residues* residues, const Residue& from, const Residue& to) {
  if (residues->count.load(std::memory_order_relaxed) == 0) return;
  std::vector<Residue> parts;
  for (const Residue& residue : residues->all) {
    Residue part = to;
    part.bytes = common_bytes(residue, from);
    if (part.bytes == 0) continue;
    part.address = to.address + std::max(residue.address, from.address) - from.address;
    part.mark = residue.mark;
    parts.push_back(part);
  }
  cut_out(residues, to);
  for (const Residue& part : parts) add_residue(residues, part);
}

void freed(Residues* residues, const Residue& where) {
  if (residues->count.load(std::memory_order_relaxed) == 0) return;
  for (Residue& residue : residues->all) {
    const uint64_t bytes = common_bytes(residue, where);
    if (bytes == 0) continue;
    Residue left = residue;
    left.bytes = bytes;
    left.address = 0;
    shrink(residues, &residue, bytes);
    add_residue(residues, left);
  }
}

void process_ended(Residues* residues, int participant) {
  if (residues->count.load(std::memory_order_relaxed) == 0) return;
  for (Residue& residue : residues->all) {
    if (residue.bytes == 0 || residue.participant != participant) continue;
    residue.participant = kNobody;
    residue.address = 0;
  }
}

uint64_t hand_out(Residues* residues, const Residue& where, Kept kept) {
  if (residues->count.load(std::memory_order_relaxed) == 0) return 0;
  Residue into = where;
  uint64_t of_others = 0;
  for (Residue& residue : residues->all) {
    if (into.bytes == 0) break;
    if (!same_memory(residue, where) || residue.address != 0) continue;
    const uint64_t bytes = std::min(residue.bytes, into.bytes);
    const bool own = residue.participant == where.participant;
    Residue given = into;
    given.bytes = bytes;
    given.mark = residue.mark;
    shrink(residues, &residue, bytes);
    into.address += bytes;
    into.bytes -= bytes;
    if (kept == Kept::kNone || (kept == Kept::kOwn && !own)) continue;
    if (!own) of_others += bytes;
    add_residue(residues, given);
  }
  return of_others;
}

FoundResidue look_at(const Residues& residues, const Residue& where) {
  FoundResidue found;
  if (residues.count.load(std::memory_order_relaxed) == 0) return found;
  for (const Residue& residue : residues.all)
    (residue.mark == where.mark ? found.tagged : found.other) += common_bytes(residue, where);
  return found;
}

FoundResidue look_at_chip(const Residues& residues, const Residue& where, bool leaks) {
  FoundResidue found;
  for (const Residue& residue : residues.all) {
    if (!same_memory(residue, where) || (residue.participant != where.participant && !leaks)) continue;
    (residue.mark == where.mark ? found.tagged : found.other) += std::min(residue.bytes, where.bytes);
  }
  return found;
}

}  // namespace gvb::sim

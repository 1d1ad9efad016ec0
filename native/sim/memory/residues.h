// The tags in this process's memory, by address; card/residue.h keeps the accounts.
#pragma once

#include "sim/card/residue.h"
#include "sim/memory/address_space.h"

namespace gvb::sim {

void note_written(uint64_t address, uint64_t bytes, const Mark& mark);
void note_copied(uint64_t from, uint64_t to, uint64_t bytes);
FoundResidue residue_at(uint64_t address, uint64_t bytes, const Mark& mark);
// `counters` identifies the card.
void note_written_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark);
FoundResidue residue_on_chip(Medium medium, uint64_t counters, uint64_t bytes, const Mark& mark);

// Call when a block is handed out and when it is given back.
void begin_residue(const Block& block);
void end_residue(const Block& block);

bool leaks(Leak what);

}  // namespace gvb::sim

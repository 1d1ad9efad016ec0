// Real cards: what GVB_SIM card=NAME sets, and the profiles of their MIG instances.
#pragma once

#include <string>

#include "sim/settings.h"

namespace gvb::sim {

// Makes a card that of the model, before any other setting changes it. False if no model has that name.
bool become_model(const std::string& name, CardSettings& card);
std::string model_names();                           // joined by commas
const char* model_name(const CardSettings& card);    // "l4"; empty for a card of no model
const char* product_name(const CardSettings& card);  // "NVIDIA L4"; null for a card of no model
bool has_peer_access(const CardSettings& card);      // false for cards whose driver refuses it

// The size of a MIG instance: its share of the multiprocessors, and eighths of the memory system.
struct MigProfile {
  const char* name;  // "1g.5gb"
  int64_t slices;
  int64_t sms;
  int64_t eighths;
  int64_t memory_mib;
  int64_t copy_engines;
};

// The profile of the card's model that a part of GVB_SIM mig names: "3g.20gb", or "3" for the first one of that size.
// Null if the model has none such.
const MigProfile* profile_of(const CardSettings& card, const std::string& text);
// That of an instance; null where its card is of no model.
const MigProfile* profile_of(const CardSettings& instance);
int64_t index_of(const CardSettings& card, const MigProfile& profile);  // in the list of the card's model
std::string profile_names(const CardSettings& card);  // joined by commas; empty for a model without MIG

}  // namespace gvb::sim

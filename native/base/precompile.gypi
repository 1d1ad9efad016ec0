# Standard headers precompiled for one level of optimisation.
{
  "inputs": ["standard_headers.h"],
  "outputs": ["<(PRODUCT_DIR)/headers/standard_headers.h.gch/<(level)"],
  "action": [
    "$(CXX.target)", "<@(nodes_flags)", "<(level)", "<@(flags)", "-x", "c++-header",
    "-o", "<(PRODUCT_DIR)/headers/standard_headers.h.gch/<(level)", "native/base/standard_headers.h",
  ],
}

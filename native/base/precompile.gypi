# Standard headers, precompiled.
{
  "inputs": ["standard_headers.h"],
  "outputs": ["<(PRODUCT_DIR)/headers/standard_headers.h.gch"],
  "action": [
    "$(CXX.target)", "<@(nodes_flags)", "<@(flags)", "-x", "c++-header",
    "-o", "<(PRODUCT_DIR)/headers/standard_headers.h.gch", "native/base/standard_headers.h",
  ],
}

# Compiled for speed and not for size. The simulator's own time delays what it simulates: compiled to be small, it made
# graphs of short kernels up to 16 % longer. Computing again what kernels computed takes seconds. The precompiled headers
# are for the other level.
{
  "cflags_cc": ["-O2"],
}

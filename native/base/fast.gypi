# Compiled for speed, as Node does, and not for size. The simulator's own time delays what it simulates: compiled to be
# small, it made graphs of short kernels up to 16 % longer. Computing again what kernels computed takes seconds.
{
  "cflags_cc!": ["-Os"],
  # The compiler tries the precompiled headers for this level first; before the small ones it would always warn.
  "cflags_cc": ["-Winvalid-pch", "-Wno-error=invalid-pch"],
}

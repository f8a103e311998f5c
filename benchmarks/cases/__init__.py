"""One case a module. `benchmarks/README.md` says what a case consists of."""

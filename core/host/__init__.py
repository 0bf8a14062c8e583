"""The machine: processes, memory, kernels. Knows nothing of lanes."""

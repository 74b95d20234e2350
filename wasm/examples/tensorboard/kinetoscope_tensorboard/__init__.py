"""Profiler traces of a logdir, explained by Kinetoscope inside TensorBoard."""

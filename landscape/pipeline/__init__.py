"""Build an atlas: stages, executor and commit. The only package that writes an atlas."""

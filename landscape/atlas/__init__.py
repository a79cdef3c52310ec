"""The atlas: one folder on disk, the stages that build it, and the door that opens it."""

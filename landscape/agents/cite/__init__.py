"""The writer's desk: papers to cite, their highlights, citing sentences and related work."""

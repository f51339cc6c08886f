"""The planners of the framework, one a file."""

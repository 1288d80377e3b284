"""The models and the engine that splits a recorded message into its causes."""

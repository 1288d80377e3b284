"""What a message costs: a machine's values as parameters of the native core, and the models that use them."""

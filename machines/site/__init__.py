"""What a site states of its network, one parser per source, all into the topologies of machine files."""

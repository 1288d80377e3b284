"""What finders look at: the small tables of a run, names of places, and measurements that several of them share."""

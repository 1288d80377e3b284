"""Measurements by a site's own Score-P: `logpost record --with scorep`. docs/scorep.md explains the variables."""

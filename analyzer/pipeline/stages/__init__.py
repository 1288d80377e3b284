"""The stages of an analysis; `build.STAGES` lists what each reads and writes."""

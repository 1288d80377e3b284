"""Measuring a machine: programs that are timed, and what is read off their samples.

measuring    programs/, build -> launch (failure) -> measure, as grid says -> samples, with statistics
extracting   estimate, fits -> signature, sizes, protocol, bursts, patterns, layouts -> locality -> compose (values);
             refusal and disturbance say what is not to be believed
writing      save; agreement compares two files
recording    while_recording: what a recording that measured its own job leaves in the archive's folder
the truth    simulated: LOGP's microbenchmark where the parameters are known
"""

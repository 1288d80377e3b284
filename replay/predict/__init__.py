"""A model with a machine's values: the content of `logpost predict`.

| file | what |
|---|---|
| prediction.py | one prediction: assignments, sweeps and a machine in, a table out |
| request.py | --set and --sweep as values by parameter |
| quantities.py | values as people write them |
| scale.py | the table's unit and the clock |
| machine_values/ | a machine's numbers under the parameter names of the models |
| network.py | the ways to state a network, and which exclude each other |
| missing.py | the errors for parameters without a value |
| intervals.py | what the uncertainties of the machine's values make of the results |
| beyond.py | what is read beyond the machine's measurements |
| origins.py | every value behind the table, and where it comes from |
| table.py | the table itself |
"""

"""The parts of a prediction, which prediction.py puts together.

| file | what |
|---|---|
| request.py | --set and --sweep as values by parameter |
| scale.py | the table's unit and the clock |
| network.py | the ways to tell a network, and which exclude each other |
| missing.py | what to say about parameters that nobody gives |
| origins.py | every value behind the table, and where it comes from |
| table.py | the table itself |
"""

"""The papers' experiments, run again: each is a file, or a folder with a file per figure, that runs and compares.

`logpost experiments list | run NAME... | run all [-o DIR] [--quick]`. This package is at the top, next to the command
line, because an experiment may use every other folder (cli -> experiments -> dashboards -> analyzer -> replay ->
machines, and collectors and the testbed's facade).

How to add an experiment
------------------------
1. Copy the smallest file here (`all_to_all_long.py`) to `src/logpost/experiments/my_experiment.py`. It is found by
   being there: the file holds one object `EXPERIMENT` whose name is the file's with dashes. `support/` has what
   several experiments share, `framework/` the machinery. Keep heavy imports inside functions. Compute first, show
   then: one function or file per table and figure, on a dataclass of what was computed. An experiment of several
   figures is a folder (like `logp_signatures/`): `__init__.py` says what each file is for and hands out `EXPERIMENT`,
   each figure's file returns a `Part`, and `experiment.py` puts them together.

2. Fill in the object::

       EXPERIMENT = Experiment(
           name="my-experiment",
           title="One line: what is compared with what",
           paper="SENS",                        # a key of framework/experiment.py PAPERS
           where="Fig. 8, section 5.2",
           needs=(Need.TESTBED,),               # or Need.MPI, or () for formulas alone
           run=run,
       )

3. `run(context) -> Result`. The quick form is the same code with other sizes: `context.size(full=15, quick=4)`.
   Quick: a few seconds, it runs in the suite. Full: at most 90 to 120 s on 2 cores.
   * `context.each("span", spans, one)` runs `one(span)` for each, two at a time, with progress. Results keep their
     order. For measurements that must have the machine alone, pass `concurrent=1`.
   * `context.folder` is DIR/runs/<experiment>: leave archives there, so that a person can open them;
     `context.analyze(archive, machine, "name")` writes a run to the same folder and returns it opened.
   * Nothing is cached: what a page shows was computed when it was written.
   * A failure that a user can cure is an `InputError`: it is shown in one line, and the other experiments continue.

4. The `Result` (framework/result.py) has
   * `summary`: two sentences with the numbers that matter.
   * `tables`: printed by the paper, formula and testbed (or measured) side by side. A column says where its numbers
     come from (`Origin`) and, when they are modelled, with which machine. Every number is a `Number` with its unit.
     With `reference=` each comparable number is followed by its deviation from that column: the model's error.
   * `figures`: charts by `dashboards.figures.curves` (lines and the paper's printed points as marks) or
     `dashboards.figures.bars` (stacked parts), on the axes that the paper's figure has. A figure without a table that
     holds its numbers is not readable as text: give both.
   * `claims`: what the paper states, what was reached, and whether it holds. State it; never tune it away.
     A value or reading that the paper does not print is the claim's `assumption`, what is put in its `given`, the
     paper's own counter-statement its `contradiction`, and the likely cause of a failure its `reason`.
   * `differences`: each departure from the paper with its likely reason: unit conventions, a flow-level network, a
     value that the paper does not print.
   * `notes`: assumptions; for testbed runs the testbed's own limits.

5. Test the quick form in `tests/experiments/test_my_experiment.py`: claims that cannot be true by construction (an
   ordering, a reduction by more than half, a formula's number with its arithmetic in a comment). `quick_result`
   of `tests/experiments/conftest.py` runs the quick form once per session.

6. Name the experiment at what it repeats in `replay/models/papers/items.py`, and write docs/papers.md again.

7. `logpost experiments run all -o build/experiments` leaves the page that `make docs` shows.
"""

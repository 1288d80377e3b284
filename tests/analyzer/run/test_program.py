"""A run holds what its analysis came from: the engine finds the same figures in it as in the archive."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.parquet import frame
from logpost.analyzer.run.program import program_of
from logpost.errors import InputError
from logpost.machines import load_machine, replay_parameters
from logpost.replay._native import Analysis, Causes, Spill
from logpost.replay.cost.parameters import native_parameters


def analysis_of(run: Run) -> Analysis:
    parameters = native_parameters(
        replay_parameters(load_machine(run.machine_file)),
        asynchronous_progress=run.manifest.machine.asynchronous_progress,
    )
    return Analysis(program_of(run), parameters, len(os.sched_getaffinity(0)))


def test_an_analysis_of_a_run_gives_the_tables_of_the_archives_analysis(runs: dict[str, Run]) -> None:
    unmatched = 0
    for run in runs.values():
        analysis = analysis_of(run)
        for table, columns in (
            (schema.ACCOUNTING, analysis.accounting()),
            (schema.EXPOSURE, analysis.exposure()),
            (schema.WAIT_STATE_TOTALS, analysis.wait_states()),
            (schema.PAIRS, analysis.pairs()),
            (schema.LOAD, analysis.load()),
            (schema.UNMATCHED, analysis.unmatched()),
        ):
            found, wanted = frame(table, columns), run.table(table.name).collect()
            assert_frame_equal(found, wanted)
        unmatched += run.table("unmatched").collect().height
    assert unmatched > 0


def test_messages_and_calls_of_a_run_are_those_of_the_archive(runs: dict[str, Run]) -> None:
    messages = 0
    for run in runs.values():
        analysis = analysis_of(run)
        calls = (partial(analysis.next_calls, block) for block in range(analysis.call_blocks))
        for table, batches in ((schema.MESSAGES, [analysis.next_messages]), (schema.CALLS, calls)):
            found = [frame(table, batch) for more in batches for batch in iter(partial(more, 1 << 16), None)]
            rows = pl.concat(found) if found else table.empty()
            assert_frame_equal(rows, run.table(table.name).collect())
        messages += analysis.messages
    assert messages > 40_000


def test_a_table_that_contradicts_another_is_refused(runs: dict[str, Run], tmp_path: Path) -> None:
    shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run")
    run = Run.open(tmp_path / "a.run")
    # All messages of the run are said to be received by call 0, which is one of location 0.
    wrong = run.table("messages").collect().with_columns(pl.lit(0, dtype=pl.Int32).alias("recv_call"))
    wrong.write_parquet(tmp_path / "a.run" / "messages.parquet")
    with pytest.raises(InputError, match=r"tables contradict each other: call 0 .* location 1"):
        program_of(Run.open(tmp_path / "a.run"))


def test_columns_of_different_lengths_are_refused(runs: dict[str, Run]) -> None:
    run = runs["pipit-ping-pong"]
    program = program_of(run)
    parameters = native_parameters(replay_parameters(load_machine(run.machine_file)))
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match=r"needs a begin and an end .* location"):
        Analysis(program, parameters, 1, one, one)


def test_causes_of_another_program_are_refused(runs: dict[str, Run]) -> None:
    programs = [program_of(runs[name]) for name in ("pipit-ping-pong", "pipit-ping-pong-papi")]
    parameters = native_parameters(replay_parameters(load_machine(runs["pipit-ping-pong"].machine_file)))
    with pytest.raises(ValueError, match="the causes are those of another program"):
        Analysis(programs[0], parameters, 1, causes=Causes(programs[1], 1))


def test_a_program_is_the_same_from_few_rows_at_a_time_and_beyond_the_limit_of_memory(
    runs: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("logpost.analyzer.run.program.ROWS", 1000)
    names = (
        "scorep-npb-lu-S-comp-4",
        "scorep-lulesh-nocomp-8",
        "scorep-shmem-stencil-4",
        "casita-2_jacobi_blame_cpu_015",
    )
    for name in names:
        run = runs[name]
        parameters = native_parameters(replay_parameters(load_machine(run.machine_file)))
        spill = Spill(tmp_path / "spill", 1, in_memory=True)
        spilled = Analysis(program_of(run, None, spill), parameters, 2)
        assert spill.spilled_bytes > 0
        whole = Analysis(program_of(run), parameters, 2)
        assert_frame_equal(frame(schema.ACCOUNTING, spilled.accounting()), frame(schema.ACCOUNTING, whole.accounting()))
        assert_frame_equal(frame(schema.PAIRS, spilled.pairs()), frame(schema.PAIRS, whole.pairs()))


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [("recv_number", 2, "message end 2 is there twice"), ("send_number", 10**6, "message end 1000000 does not exist")],
)
def test_message_ends_that_cannot_be_are_refused(
    runs: dict[str, Run], tmp_path: Path, column: str, value: int, text: str
) -> None:
    shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run")
    file = tmp_path / "a.run" / "messages.parquet"
    pl.read_parquet(file).with_columns(pl.lit(value, dtype=pl.Int32).alias(column)).write_parquet(file)
    with pytest.raises(InputError, match=f"its tables contradict each other: {text}"):
        program_of(Run.open(tmp_path / "a.run"))


def test_a_message_that_is_missing_is_refused(runs: dict[str, Run], tmp_path: Path) -> None:
    shutil.copytree(runs["pipit-ping-pong"].path, tmp_path / "a.run")
    file = tmp_path / "a.run" / "messages.parquet"
    pl.read_parquet(file).filter(pl.col("recv_number") != 1).write_parquet(file)
    with pytest.raises(InputError, match="contradict each other: message end 1 is missing"):
        program_of(Run.open(tmp_path / "a.run"))

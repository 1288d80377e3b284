"""Last stages: region of interest, findings and manifest. They read the run that earlier stages wrote."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from logpost.analyzer.archive._native import release_memory
from logpost.analyzer.pipeline.memory_limit import peak_bytes
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.stages.tables import Tables
from logpost.analyzer.pipeline.tables.analysis import Report, write_findings
from logpost.analyzer.run import manifest as m
from logpost.analyzer.run.directory import Run, RunWriter
from logpost.analyzer.run.faults import Faults


def release(background: ThreadPoolExecutor) -> Future[None]:
    """The memory of trace and analysis, which no later stage reads, is given back to the system."""
    return background.submit(release_memory)


def restrict(
    writer: RunWriter, manifest: m.Manifest, request: Request, tables: Tables, faults: Faults, report: Report
) -> Run:
    """The unfinished run. The aggregates are replaced by those of the region of interest, where one is named."""
    report("looking for hotspots", 0, 0)
    # `tables.analysis.NEEDED_NEXT`
    from logpost.analyzer.pipeline.rescope import rescope
    from logpost.analyzer.pipeline.tables.ideal_network import ideal_network

    run = Run(writer.path, manifest)
    if request.roi.everything:
        ideal = faults.table("ideal_network", lambda: ideal_network(run, tables["locations"]))
        writer.write("ideal_network", ideal)
        return run
    writer.settle()
    rescoped = rescope(run, request.roi, faults)
    for name, table in rescoped.frames.items():
        writer.write(name, table)
    return Run(writer.path, rescoped.manifest)


def look_for_findings(
    writer: RunWriter, request: Request, run: Run, tables: Tables, released: Future[None], faults: Faults
) -> None:
    """The findings of the run."""
    released.result()  # before more is needed
    write_findings(writer, run, tables if request.roi.everything else {}, faults)


def finish(writer: RunWriter, run: Run, faults: Faults) -> None:
    """The manifest, with the memory that was needed and the faults: the run is finished."""
    used = run.manifest.memory
    memory = used and used.model_copy(update={"peak_bytes": peak_bytes()})
    writer.finish(run.manifest.model_copy(update={"memory": memory, "faults": faults.found}))

"""The limit of an analysis's memory, from what the user, the cgroup and Slurm say."""

from __future__ import annotations

from pathlib import Path

import pytest

from logpost.analyzer.pipeline.memory_limit import LEAST_BYTES, default_bytes, parse, peak_bytes
from logpost.errors import InputError

MACHINE = 64_000_000_000


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4_000_000_000), ("1.5 GB", 1_500_000_000), ("512MiB", 536_870_912), ("2TiB", 2 << 40)],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert parse(text) == size


@pytest.mark.parametrize("text", ["10", "4gb", "GB", "-4GB", "4GB/s", "nan GB", "1e9 B", "50%"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r" is no size; .* MB, GB"):
        parse(text)


def test_less_than_the_libraries_take_is_refused() -> None:
    with pytest.raises(InputError, match=r"--memory 10MB is less than .* at least 400MB"):
        parse("10MB")
    assert parse(f"{LEAST_BYTES / 1e6:.0f}MB") == LEAST_BYTES


def limit(root: Path, **environment: str) -> float:
    """The default as a share of three quarters of a GB."""
    return default_bytes(environment, root, MACHINE) / 0.75e9


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_without_other_limits_it_is_three_quarters_of_the_machine(tmp_path: Path) -> None:
    assert limit(tmp_path) == 64


def test_the_smallest_limit_of_nested_groups_counts(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/user.slice/job/step\n")
    groups = tmp_path / "sys/fs/cgroup"
    write(groups / "user.slice/memory.max", "8000000000\n")
    write(groups / "user.slice/job/memory.max", "max\n")
    write(groups / "user.slice/job/step/memory.high", "6000000000\n")
    assert limit(tmp_path) == 6


def test_a_container_sees_its_own_group_at_the_top(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/host/only\n")
    write(tmp_path / "sys/fs/cgroup/memory.max", "5000000000\n")
    assert limit(tmp_path) == 5


def test_groups_of_version_1(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "5:cpu,cpuacct:/a\n3:memory:/slurm/job_7\n1:name=systemd:/a\n")
    groups = tmp_path / "sys/fs/cgroup/memory"
    write(groups / "memory.limit_in_bytes", "9223372036854771712\n")
    write(groups / "slurm/job_7/memory.limit_in_bytes", "4000000000\n")
    assert limit(tmp_path) == 4


def test_slurm_says_it_in_mebibytes_per_node_or_per_cpu(tmp_path: Path) -> None:
    gib = 2**30 / 1e9
    assert limit(tmp_path, SLURM_MEM_PER_NODE="2048") == pytest.approx(2 * gib)
    assert limit(tmp_path, SLURM_MEM_PER_CPU="1024", SLURM_CPUS_ON_NODE="4") == pytest.approx(4 * gib)
    assert limit(tmp_path, SLURM_MEM_PER_CPU="1024") == 64
    assert limit(tmp_path, SLURM_MEM_PER_NODE="0") == 64


def test_the_peak_is_that_of_this_process() -> None:
    assert peak_bytes() > 10_000_000

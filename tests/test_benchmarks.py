"""Benchmarks keep their results, and every listed one exists."""

from importlib import import_module

import pytest

from benchmarks.harness import Benchmark, markdown
from benchmarks.run import BENCHMARKS


@pytest.mark.slow
@pytest.mark.parametrize(("name", "module"), [(name, one[0]) for name, one in BENCHMARKS.items()])
def test_every_listed_benchmark_exists(name, module):
    benchmark = import_module(f"benchmarks.{module}").BENCHMARKS[name]
    assert benchmark.title
    assert benchmark.suffix in (".jsonl", ".db")


def test_a_stopped_benchmark_resumes_and_its_page_has_a_stamp(tmp_path):
    computed = []

    def square(number):
        if number == 2 and computed == [1]:
            raise KeyboardInterrupt
        computed.append(number)
        return {"square": number**2}

    def tasks(quick):
        for number in (1, 2, 3):
            yield {"number": number}, lambda number=number: square(number)

    benchmark = Benchmark(
        "Squares", "Of numbers.", tasks, lambda found: [markdown(found.set_index("number"))]
    )
    path = tmp_path / "squares.jsonl"
    with pytest.raises(KeyboardInterrupt):
        benchmark.measure(path, quick=False)
    computed.append("stopped")
    benchmark.measure(path, quick=False)
    assert computed == [1, "stopped", 2, 3]
    page = benchmark.page(path, "python benchmarks/run.py squares")
    assert page.startswith("# Squares\n\nOf numbers.\n\n```sh\npython benchmarks/run.py squares\n")
    assert "*Measured with version " in page
    assert "| 3 | 9 |" in page

"""`granulearn check`: everything to know about a table before it is used."""

from granulearn.cli import options as opt
from granulearn.cli import output as out


@opt.takes_table
def check(
    table: opt.TableArgument,
    target: opt.TargetIfAnyOption = None,
    json: opt.JsonOption = False,
    *,
    options: opt.TableOptions,
) -> None:
    """Report the type and use of each column, missing cells, problems, and options that help.

    With --target also the classes, spellings of labels that are joined, columns that
    leak the target, and duplicate rows. Nothing is written. The exit code is 3 if nothing could be
    learned from the table; all the reasons are named.

    Example: granulearn check train.csv --target label
    """
    from granulearn.cli.table_report import as_facts, show_warnings, show_whole
    from granulearn.tables import TableError, inspect_table

    with options.open(table) as file:
        with out.stage_progress(hidden=json) as progress:
            progress(f"reading {table.name}")
            report = inspect_table(file, target, options.columns)
        if json:
            out.print_json(as_facts(report, file.location))
        else:
            show_whole(report, file.location)
            show_warnings(report)
    if report.problems:
        raise TableError.about(file.path, report.problems)

"""The results of a publication, in a form that tests compare."""


def changes(result):
    """Of each table what happened to it, and how many files came and went."""
    return {table.name: (table.change, table.files_added, table.files_removed) for table in result.tables}

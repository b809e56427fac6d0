"""An overview of a part of an archive: rows by table, kind and time, the largest transactions, DDL, threads.

    result      the summary, as values
    counting    one split: rows are counted, not decoded
    totals      the counts of all splits, in bounded memory
    statements  DDL, and changes that are logged as statements
    details     attributes of single transactions in the log: thread, statement
    job         from binlogs to the summary
    page        the summary as one self-contained HTML file
    words       times and statements as text
"""

__all__ = ["job", "result", "words"]

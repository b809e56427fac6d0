"""What a part of an archive did, at a glance: rows by table, kind and time, the largest transactions, DDL, who.

    result      the summary, as values
    counting    one split: rows are counted, not decoded
    totals      the counts of all splits, in bounded memory
    statements  DDL, and changes that are logged as statements
    details     what the log says of single transactions: thread, statement
    job         from binlogs to the summary
    page        that as one self-contained HTML file
    words       times and statements for people
"""

__all__ = ["job", "result", "words"]

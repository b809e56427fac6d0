# mypy: allow-untyped-defs, no-check-untyped-defs
"""Texts that kernels print again and again: of lines of `mysqlbinlog -v`, and of JSON; and the names of event types."""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from keysearch.memory import copy32, inline
from keysearch.records import offset, struct

FIXED, _, fixed_at = struct("fixed text", length=np.int64, text=(np.uint8, (64,)))
"""A text, and how many bytes it has."""
_FIXED_BYTES, _TEXT_AT = FIXED.itemsize, offset(FIXED, "text")


class Text(IntEnum):
    """The texts, by their numbers."""

    text: str

    def __new__(cls, text: str) -> "Text":
        """Return the text that follows those before."""
        member = int.__new__(cls, len(cls.__members__))
        member._value_, member.text = int(member), text
        return member

    AT = "# at "
    SERVER = " server id "
    END = "  end_log_pos "
    GROUP = " group id "
    CRC = " CRC32 0x"
    TAB = " \t"
    XID = "Xid = "
    COMMIT = "COMMIT/*!*/;\n"
    TABLE_ID = ": table id "
    FLAGS = " flags:"
    STMT_END = " STMT_END_F"
    NO_FK = " NO_FOREIGN_KEY_CHECKS_F"
    RELAXED = " RELAXED_UNIQUE_CHECKS_F"
    COMPLETE = " COMPLETE_ROWS_F"
    SQL_FK = " USE_SQL_FOREIGN_KEY_F"
    GTID = "GTID"
    ANONYMOUS_GTID = "Anonymous_GTID"
    LAST_COMMITTED = "\tlast_committed="
    SEQUENCE = "\tsequence_number="
    RBR_NO = "\trbr_only=no"
    RBR_YES = "\trbr_only=yes"
    ORIGINAL = "\toriginal_committed_timestamp="
    IMMEDIATE = "\timmediate_commit_timestamp="
    LENGTH = "\ttransaction_length="
    READ_COMMITTED = "/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*//*!*/;\n"
    ORIGINAL_LINE = "# original_commit_timestamp="
    IMMEDIATE_LINE = "# immediate_commit_timestamp="
    COMMITTED = "/*!80001 SET @@session.original_commit_timestamp="
    ORIGINAL_VERSION = "/*!80014 SET @@session.original_server_version="
    COMMENT_END = "*//*!*/;\n"
    IMMEDIATE_VERSION = "/*!80014 SET @@session.immediate_server_version="
    GTID_NEXT = "SET @@SESSION.GTID_NEXT= '"
    QUOTE_END = "'/*!*/;\n"
    ANONYMOUS = "ANONYMOUS"
    THREAD_ID = "\tthread_id="
    EXEC = "\texec_time="
    ERROR = "\terror_code="
    TIMESTAMP = "SET TIMESTAMP="
    TERMINATOR = "/*!*/;\n"
    THREAD = "SET @@session.pseudo_thread_id="
    QUERY_END = "\n/*!*/;\n"
    SET = "### SET\n"
    NULL = "NULL"
    ANNOTATE = "Annotate_rows:"
    ROWS_QUERY = "Rows_query"
    ANNOTATED = "#Q> "
    STATEMENT = "# "
    TRANS = " trans"
    WAITED = " waited"
    DDL = " ddl"
    XA_PREPARE = " xa prepare"
    XA_COMPLETE = " xa complete"
    CID = " cid="
    START = "START TRANSACTION\n/*!*/;\n"
    XA_START = "XA START "
    START_ALTER = " START ALTER"
    COMMIT_ALTER = " COMMIT ALTER id= "
    ROLLBACK_ALTER = " ROLLBACK ALTER id= "
    GTID_THREAD = " thread_id="
    PARALLEL = "/*M!100101 SET @@session.skip_parallel_replication="
    DOMAIN = "/*M!100001 SET @@session.gtid_domain_id="
    SERVER_ID = "/*M!100001 SET @@session.server_id="
    SEQ_NO = "/*M!100001 SET @@session.gtid_seq_no="
    NO_XID = "\txid=0"
    MARIADB = "GTID "
    PAYLOAD = "Transaction_Payload\t\tpayload_size="
    ZSTD = "\tcompression_type=ZSTD\tuncompressed_size="
    NONE = "\tcompression_type=NONE\tuncompressed_size="
    PAYLOAD_BEGINS = "\n# Start of compressed events.\n"
    PAYLOAD_ENDS = "# End of compressed events.\n"
    FILE_ID = "# file_id: "
    NO_KEY = "# has_generated_invisible_primary_key="
    N_ROWS = "# Number of rows: "
    PARTITION = "### Extra row info for partitioning: partition: "
    PARTITIONS = "### Extra row info for partitioning: source_partition: "
    TARGET = " target_partition: "
    BINLOG = "\nBINLOG '\n"
    BINLOG_ENDS = "'/*!*/;\n"
    IS_NULL = " is_null="
    TYPE_ENDS = " */"
    NO_VALUES = " VALUES ()\n"
    NO_COLUMNS = "### SET /* no columns */\n"
    POS = '{"pos":'
    JSON_END = ',"end":'
    TYPE = ',"type":"'
    WITHIN = ',"within":'
    NEXT_VALUE = '",'
    END_ROW = "}}\n"
    JSON_SET = '},"after":{'
    END_DELETE = '},"after":null}\n'
    JSON_TIME = ',"timestamp":'
    JSON_SERVER = ',"server_id":'
    FIELDS = ',"fields":{'
    NUMBER = '"number":'
    JSON_SQL = '"sql":'
    JSON_THREAD = '"thread_id":'
    JSON_EXEC = ',"execution_time":'
    JSON_TABLE_ID = '"table_id":'
    JSON_TEXT = '"text":'
    JSON_NULL = "null"
    JSON_FLAGS = ',"flags":'
    JSON_NUMBER = ',"number":'
    JSON_COMMITTED = ',"last_committed":'
    JSON_SEQUENCE = ',"sequence_number":'
    JSON_IMMEDIATE = ',"commit_id":null,"immediate_commit_timestamp":'
    JSON_ORIGINAL = ',"original_commit_timestamp":'
    JSON_LENGTH = ',"transaction_length":'
    JSON_VERSION = ',"immediate_server_version":'
    JSON_ORIGINAL_VERSION = ',"original_server_version":'
    JSON_COMMIT_ID = ',"last_committed":null,"sequence_number":null,"commit_id":'
    JSON_NO_TIMES = ',"immediate_commit_timestamp":null,"original_commit_timestamp":'
    JSON_NO_VERSIONS = 'null,"transaction_length":null,"immediate_server_version":'
    JSON_NO_VERSION = 'null,"original_server_version":null'
    JSON_ZSTD = '"compression":"ZSTD","compressed_size":'
    JSON_NONE = '"compression":"NONE","compressed_size":'
    JSON_INFLATED = ',"uncompressed_size":'



def text_records(texts: Iterable[str]) -> np.ndarray:
    """Texts as records that kernels read."""
    encoded = (text.encode() for text in texts)
    return np.frombuffer(b"".join(len(text).to_bytes(8, "little") + text.ljust(64, b"\0") for text in encoded), FIXED)


def fixed_texts() -> np.ndarray:
    """Return the records of all texts, for the state's `texts`."""
    return text_records(text.text for text in Text)


@inline
def put_text(out, state, number):
    """One of the fixed texts, which have up to 64 bytes."""
    text = state.texts + _FIXED_BYTES * number + _TEXT_AT
    copy32(out, text)
    copy32(out + 32, text + 32)
    return out + fixed_at(state.texts, number).length


@inline
def put_name(out, state, kind):
    """The name of a type of events, which has up to 32 bytes."""
    copy32(out, state.names + _FIXED_BYTES * kind + _TEXT_AT)
    return out + fixed_at(state.names, kind).length

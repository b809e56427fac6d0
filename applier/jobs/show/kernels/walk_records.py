"""What the kernel that prints events is given and what it answers: records of eight-byte words, by their offsets."""

# the walk's state: the event, the row in it (offset; 0 before its first), where the next text goes and where its room
# ends; what the kernel asks for
(POSITION, ROW_AT, OUT, OUT_END, DETAIL,
 # of the file: bytes of headers and checksums, addresses of the fixed texts and of the times that are known
 HEADER_BYTES, CHECKSUM_BYTES, TEXTS, MOMENTS,
 # of tables: address of their records; of their ids, and a mask for these; where the newest table maps begin
 TABLES, IDS, IDS_MASK, MAPS_AT, IN_MAPS,
 # the context that was printed last: address and length of a QUERY's status variables, of its database, its thread
 CONTEXT, CONTEXT_LENGTH, DATABASE, DATABASE_LENGTH, THREAD,
 # whether strings are written as MySQL's tool does; of JSON: a buffer for a document's text, its bytes, a stack, and
 # how many bytes are wanted
 AS_MYSQL, DOCUMENT, DOCUMENT_BYTES, STACK, WANTED_BYTES,
 # what is printed: addresses of the range (where it starts and ends in the file) that the event is in, and after the
 # last one
 RANGE, RANGES_END,
 # of compressed events: the record of what is inflated of the next one, how many such records there are; in a payload,
 # the address of the event in it (0: in none) and how many came before that; room to describe a payload
 CONTENT, CONTENTS_LEFT, INNER, INNER_NUMBER, DESCRIBED) = range(0, 248, 8)
STATE_WORDS = 38

# a table: whether the kernel can print its rows; its columns; the lines before an image, by kind of row (with their
# lengths), and its title
IS_PLAIN, N_COLUMNS, COLUMNS, LINES, LINE_LENGTHS, TITLE, TITLE_LENGTH = 0, 8, 16, 24, 48, 72, 80
TABLE_BYTES = 128

# an entry of the fixed texts, and of the times: the second (-1: none), its short form, its long one, and its time zone
TEXT_BYTES = 128
SECOND, SHORT, LONG, ZONE_LENGTH, ZONE = 0, 8, 32, 56, 64
SHORT_LENGTH, LONG_LENGTH = 15, 19
MOMENT_BYTES = 128
N_MOMENTS = 256

# why the kernel stopped: what it was asked to print is printed; the room is full; a second's texts are missing; a table
# map is new; the event is one that it cannot print; a document's buffer is too small; what comes next must be inflated
DONE, FULL, NEED_MOMENT, NEW_TABLE, NEED_PYTHON, NEED_DOCUMENT, NEED_CONTENTS = 0, -1, -2, -3, -4, -5, -6

TEXTS_OF_KERNEL = (
    "# at ", "\n#", " server id ", "  end_log_pos ", " group id ", " CRC32 0x", " \t", "Xid = ", "\nCOMMIT/*!*/;\n",
    " mapped to number ", ": table id ", " flags:", " STMT_END_F", " NO_FOREIGN_KEY_CHECKS_F",
    " RELAXED_UNIQUE_CHECKS_F", " COMPLETE_ROWS_F", " USE_SQL_FOREIGN_KEY_F", "Write_rows", "Update_rows",
    "Delete_rows", "GTID", "Anonymous_GTID", "\tlast_committed=", "\tsequence_number=", "\trbr_only=no",
    "\trbr_only=yes",
    "\toriginal_committed_timestamp=", "\timmediate_commit_timestamp=", "\ttransaction_length=",
    "\n# original_commit_timestamp=", "\n# immediate_commit_timestamp=",
    "\n/*!80014 SET @@session.original_server_version=",
    "*//*!*/;", "\n/*!80014 SET @@session.immediate_server_version=", "\nSET @@SESSION.GTID_NEXT= '", "'/*!*/;\n",
    "ANONYMOUS", "Query\tthread_id=", "\texec_time=", "\terror_code=", "\nSET TIMESTAMP=", "/*!*/;\n",
    "SET @@session.pseudo_thread_id=", "\n/*!*/;\n", "### SET\n", "NULL\n", "Annotate_rows:", "Rows_query", "\n#Q> ",
    " trans", " waited", " ddl", " xa prepare", " xa complete", " cid=", "\nSTART TRANSACTION\n/*!*/;\n", "GTID ",
    "Query_compressed\tthread_id=", "Write_compressed_rows", "Update_compressed_rows", "Delete_compressed_rows",
    "Transaction_payload\tpayload_size=", "\tcompression_type=ZSTD\tuncompressed_size=",
    "\tcompression_type=NONE\tuncompressed_size=", "\n# Start of compressed events.\n",
    "# End of compressed events.\n",
)  # fmt: skip
(T_AT, T_HEADER, T_SERVER, T_END, T_GROUP, T_CRC, T_TAB, T_XID, T_COMMIT, T_MAPPED, T_TABLE_ID, T_FLAGS, T_STMT_END,
 T_NO_FK, T_RELAXED, T_COMPLETE, T_SQL_FK, T_WRITE, T_UPDATE, T_DELETE, T_GTID, T_ANONYMOUS_GTID, T_LAST_COMMITTED,
 T_SEQUENCE, T_RBR_NO, T_RBR_YES, T_ORIGINAL, T_IMMEDIATE, T_LENGTH, T_ORIGINAL_LINE, T_IMMEDIATE_LINE,
 T_ORIGINAL_VERSION, T_COMMENT_END, T_IMMEDIATE_VERSION, T_GTID_NEXT, T_QUOTE_END, T_ANONYMOUS, T_QUERY, T_EXEC,
 T_ERROR, T_TIMESTAMP, T_TERMINATOR, T_THREAD, T_QUERY_END, T_SET, T_NULL, T_ANNOTATE, T_ROWS_QUERY, T_STATEMENT,
 T_TRANS, T_WAITED, T_DDL, T_XA_PREPARE, T_XA_COMPLETE, T_CID, T_START, T_MARIADB, T_QUERY_COMPRESSED,
 T_WRITE_COMPRESSED, T_UPDATE_COMPRESSED, T_DELETE_COMPRESSED, T_PAYLOAD, T_ZSTD, T_NONE, T_PAYLOAD_BEGINS,
 T_PAYLOAD_ENDS) = range(len(TEXTS_OF_KERNEL))
"""The fixed texts by their numbers."""

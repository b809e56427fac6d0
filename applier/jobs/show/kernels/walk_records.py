"""What the kernel that prints events is given and what it answers: records of eight-byte words, by their offsets."""

# the state: the event that the walk is at; the row in it (offset; 0 before its first); where the next text goes, where
# its room ends, and where the text of the event's header line ends; what the kernel asks for; the table and the column
# that it is at
(POSITION, ROW_AT, OUT, OUT_END, HEADER_END, DETAIL, WANTED_BYTES, TABLE, COLUMN,
 # of the file: its bytes, those of headers and checksums, addresses of the fixed texts, types' names and of the times
 # that are known
 FILE_BYTES, HEADER_BYTES, CHECKSUM_BYTES, TEXTS, NAMES, MOMENTS,
 # of tables: address of their records; of their ids, and a mask for these
 TABLES, IDS, IDS_MASK,
 # the context that was printed last: address and length of a QUERY's status variables, of its database, its thread;
 # whether Python has made the texts for another one, and where these are (address and length of each)
 CONTEXT, CONTEXT_LENGTH, DATABASE, DATABASE_LENGTH, THREAD, HAS_SETTINGS, TITLE_MORE, TITLE_MORE_LENGTH, USE,
 USE_LENGTH, MICROS, MICROS_LENGTH, SETTINGS, SETTINGS_LENGTH,
 # of the form: whether it is JSON lines, whether strings are written as MySQL's tool does
 IS_JSON, AS_MYSQL,
 # of JSON documents: a buffer for a text, its bytes, a stack; of diffs: the texts of the row's (address and length of
 # each), how many there are, and how many the row has had
 DOCUMENT, DOCUMENT_BYTES, STACK, DIFFS, N_DIFFS, DIFF,
 # what is walked: the address of the range (of places) that the event is in, or the next one, and after the last one
 RANGE, RANGES_END,
 # of compressed events: whether those are inflated that are not payloads; the record of what is inflated of the next
 # one, how many such records there are; in a payload, the address of the event in it (0: in none), how many came before
 # that and how many of these were printed; room to describe a payload
 INFLATES_ALL, CONTENT, CONTENTS_LEFT, INNER, INNER_NUMBER, N_INNER_PRINTED,
 # of the event: where it begins and ends (addresses), the bytes that it takes in the file, and whether it is what the
 # file's event was compressed of
 START, STOP, SIZE, WAS_COMPRESSED,
 # of the choice: what Python says of the event, where the next range goes, where those end that are chosen (the others
 # wait for an event that is), where the first one is, and where their room ends; a statement's text that waits for its
 # table maps (-1: none); whether the transaction has had an event that is chosen; from where on to choose (places)
 VERDICT, RANGES_OUT, CHOSEN_END, ROOM, ROOM_END, TEXT_START, TEXT_END, IS_CHOSEN, CHOOSE_FROM,
 DESCRIBED) = range(0, 496, 8)
STATE_WORDS = 72

# A place is an event's: its position in the file, and its number within that if it is in a payload (from 1), else 0.
INNER_BITS = 26
"""More than a payload has events: it has 1 GB at most."""

# a table: whether its rows are guessed at (they are printed if all of an event's can be read); its columns, how many
# are of JSON; what comes before a row's first image, by kind of row (with lengths), and its title
IS_UNSURE, N_COLUMNS, COLUMNS, N_JSON, LINES, LINE_LENGTHS, TITLE, TITLE_LENGTH = 0, 8, 16, 24, 32, 56, 80, 88
TABLE_BYTES = 128

# an entry of the fixed texts, and of the times: the second (-1: none), its short form, its long one, and its time zone
TEXT_BYTES = 128
SECOND, SHORT, LONG, ZONE_LENGTH, ZONE = 0, 8, 32, 56, 64
SHORT_LENGTH, LONG_LENGTH = 15, 19
MOMENT_BYTES = 128
N_MOMENTS = 256
HEADERS, ORIGINALS, IMMEDIATES = range(3)
"""Times of one event that are looked up by themselves."""
NAME_BYTES = 64

# why a kernel stopped: all is done; the room is full; a second's texts are missing; a table map is new; the details of
# the event are for Python; a document's buffer is too small; what comes next must be inflated; there is no event; a
# statement's context is another one; a JSON diff has no text yet; the event's rows are not shown; a value is wrong; the
# event's rows make no sense; its table is not known; it is for Python to choose
(DONE, FULL, NEED_MOMENT, NEW_TABLE, NEED_DETAILS, NEED_DOCUMENT, NEED_CONTENTS, NO_EVENT, NEED_SETTINGS, NEED_DIFF,
 NEED_NOTE, BAD_VALUE, BAD_ROWS, UNKNOWN_TABLE, NEED_VERDICT) = range(0, -15, -1)
# where a walk is: at an event in a range, at the end of a payload
AT_EVENT, AT_PAYLOAD_END = 1, 2

TEXTS_OF_KERNEL = (
    "# at ", "\n#", " server id ", "  end_log_pos ", " group id ", " CRC32 0x", " \t", "Xid = ", "\nCOMMIT/*!*/;\n",
    " mapped to number ", ": table id ", " flags:", " STMT_END_F", " NO_FOREIGN_KEY_CHECKS_F",
    " RELAXED_UNIQUE_CHECKS_F", " COMPLETE_ROWS_F", " USE_SQL_FOREIGN_KEY_F", "GTID", "Anonymous_GTID",
    "\tlast_committed=", "\tsequence_number=", "\trbr_only=no", "\trbr_only=yes",
    "\toriginal_committed_timestamp=", "\timmediate_commit_timestamp=", "\ttransaction_length=",
    "\n# original_commit_timestamp=", "\n# immediate_commit_timestamp=",
    "\n/*!80014 SET @@session.original_server_version=",
    "*//*!*/;", "\n/*!80014 SET @@session.immediate_server_version=", "\nSET @@SESSION.GTID_NEXT= '", "'/*!*/;\n",
    "ANONYMOUS", "\tthread_id=", "\texec_time=", "\terror_code=", "SET TIMESTAMP=", "/*!*/;\n",
    "SET @@session.pseudo_thread_id=", "\n/*!*/;\n", "### SET\n", "NULL", "Annotate_rows:", "Rows_query", "\n#Q> ",
    " trans", " waited", " ddl", " xa prepare", " xa complete", " cid=", "\nSTART TRANSACTION\n/*!*/;\n", "GTID ",
    "Transaction_payload\tpayload_size=", "\tcompression_type=ZSTD\tuncompressed_size=",
    "\tcompression_type=NONE\tuncompressed_size=", "\n# Start of compressed events.\n",
    "# End of compressed events.\n", "# file_id: ", '{"pos":', ',"end":', ',"type":"', ',"within":', '",', "}}\n",
    '},"after":{', '},"after":null}\n',
)  # fmt: skip
(T_AT, T_HEADER, T_SERVER, T_END, T_GROUP, T_CRC, T_TAB, T_XID, T_COMMIT, T_MAPPED, T_TABLE_ID, T_FLAGS, T_STMT_END,
 T_NO_FK, T_RELAXED, T_COMPLETE, T_SQL_FK, T_GTID, T_ANONYMOUS_GTID, T_LAST_COMMITTED,
 T_SEQUENCE, T_RBR_NO, T_RBR_YES, T_ORIGINAL, T_IMMEDIATE, T_LENGTH, T_ORIGINAL_LINE, T_IMMEDIATE_LINE,
 T_ORIGINAL_VERSION, T_COMMENT_END, T_IMMEDIATE_VERSION, T_GTID_NEXT, T_QUOTE_END, T_ANONYMOUS, T_THREAD_ID, T_EXEC,
 T_ERROR, T_TIMESTAMP, T_TERMINATOR, T_THREAD, T_QUERY_END, T_SET, T_NULL, T_ANNOTATE, T_ROWS_QUERY, T_STATEMENT,
 T_TRANS, T_WAITED, T_DDL, T_XA_PREPARE, T_XA_COMPLETE, T_CID, T_START, T_MARIADB, T_PAYLOAD, T_ZSTD, T_NONE,
 T_PAYLOAD_BEGINS, T_PAYLOAD_ENDS, T_FILE_ID, T_POS, T_JSON_END, T_TYPE, T_WITHIN, T_NEXT_VALUE, T_END_ROW, T_JSON_SET,
 T_END_DELETE) = range(len(TEXTS_OF_KERNEL))
"""The fixed texts by their numbers."""

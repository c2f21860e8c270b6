"""Lists the functions, keywords and columns that matter for lineage, of all dialects, by what they do."""

from lineage_bridge.sql.text.tokens import words

AGGREGATES = words(
    """ANY_VALUE APPROX_COUNT_DISTINCT APPROX_DISTINCT APPROX_PERCENTILE ARRAY_AGG ARRAY_CONCAT_AGG AVG BIT_AND BIT_OR BIT_XOR
    BITMAP_AND_AGG BITMAP_BUILD_AGG BITMAP_OR_AGG BITMAP_XOR_AGG BOOL_AND BOOL_OR COLLECT COLLECT_LIST COLLECT_SET CORR CORRELATION
    COUNT COUNT_DISTINCT COUNT_IF COUNTIF COVAR_POP COVAR_SAMP EARLIEST_BY_OFFSET EVERY FIRST FIRST_VALUE GROUP_CONCAT HISTOGRAM
    JSON_AGG JSON_ARRAYAGG JSON_OBJECTAGG KURTOSIS LAST LAST_VALUE LATEST_BY_OFFSET LISTAGG MAX MAX_BY MEDIAN MIN MIN_BY MODE
    NTH_VALUE OBJECT_AGG PERCENTILE PERCENTILE_CONT PERCENTILE_DISC REGR_SLOPE SINGLE_VALUE SKEWNESS STDDEV STDDEV_POP STDDEV_SAMP
    STDDEV_SAMPLE STRING_AGG SUM SUM_IF SUMIF TOPK TOPKDISTINCT VARIANCE VAR_POP VAR_SAMP"""
)
"""Functions that aggregate rows."""

RANKS = words("CUME_DIST DENSE_RANK GROUPING GROUPING_ID GROUP_ID NTILE PERCENT_RANK RANK ROW_NUMBER")
"""Functions of a row's position, not of its columns."""

GROUP_WINDOWS = words("CUMULATE HOP SESSION TUMBLE")
"""Functions that assign rows to time windows."""

WINDOW_COLUMNS = ("window_start", "window_end", "window_time")
"""The columns that a window function adds to its table."""

WINDOW_BOUNDS = ("WINDOWSTART", "WINDOWEND")
"""The columns that a window clause of ksqlDB adds to its query."""

PSEUDO_COLUMNS = ("ROWTIME", "ROWPARTITION", "ROWOFFSET", *WINDOW_BOUNDS)
"""Columns that every stream of ksqlDB has: about the record, not from its value."""

CONDITIONALS = words("IF IFF")
"""Functions whose first argument selects one of the others."""

UNITS = words("SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR MILLISECOND SECONDS MINUTES HOURS DAYS WEEKS MONTHS YEARS MILLISECONDS")
"""Units of time."""

MOMENTS = UNITS | words(
    "CURRENT_DATE CURRENT_ROW_TIMESTAMP CURRENT_TIME CURRENT_TIMESTAMP DATE LOCALTIME LOCALTIMESTAMP NOW PROCTIME TIME TIMESTAMP"
)
"""Names that are not columns: the time of the query, a unit of time, the type of a literal."""

RESERVED_MOMENTS = words("CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP")
"""Flink's keywords for the time of the query; as column names, they must be in back quotes."""

RESERVED_CONTEXTS = words(
    "CURRENT_CATALOG CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_USER SESSION_USER USER"
)
"""Flink's keywords for the user, catalog and database of the query: functions without brackets."""

MEASURED = words("DATEADD DATESUB EXTRACT TIMEADD TIMESTAMPADD TIMESTAMPDIFF TIMESTAMPSUB TIMESUB")
"""Functions whose first argument may be a unit of time, or the field of a time."""

IDENTITIES = words("AS_VALUE")
"""Functions that return their argument."""

MODEL_CALLS = words("AI_COMPLETE AI_EMBEDDING AI_TOOL_INVOKE ML_EVALUATE ML_PREDICT")
"""Table functions whose first argument is a model."""

CHANGELOGS = words("FROM_CHANGELOG TO_CHANGELOG")
"""Table functions between a table and the log of its changes."""

SNAPSHOTS = words("SNAPSHOT")
"""Table functions that return their table, at the time of each row that is joined."""

SEARCHES = words("FEDERATED_SEARCH KEY_SEARCH_AGG TEXT_SEARCH_AGG VECTOR_SEARCH VECTOR_SEARCH_AGG")
"""Table functions whose first argument is the table to search."""

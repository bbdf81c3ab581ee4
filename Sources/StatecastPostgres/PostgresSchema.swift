/// The tables of all stores in one database, in the schema `statecast`.
///
/// They are created by `statecast-journal create`, not by a node: an empty database may be the wrong one.
enum PostgresSchema {
    /// The version of the tables, in each row of `store`.
    static let format: Int64 = 1

    static let statements = [
        "CREATE SCHEMA IF NOT EXISTS statecast",
        // Of the write-ahead log, which a promotion changes at once; `pg_control_checkpoint()` shows it later.
        """
        CREATE OR REPLACE FUNCTION statecast.timeline() RETURNS bigint LANGUAGE sql STABLE AS
          $$ SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint $$
        """,
        """
        CREATE OR REPLACE FUNCTION statecast.synchronous() RETURNS boolean LANGUAGE sql STABLE AS
          $$ SELECT current_setting('synchronous_standby_names') <> ''
             AND current_setting('synchronous_commit') IN ('on', 'remote_apply') $$
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.leader (store text PRIMARY KEY, term bigint NOT NULL, beat bigint NOT NULL,
          settled bigint NOT NULL, timeline bigint NOT NULL, synchronous boolean NOT NULL, resigned boolean NOT NULL,
          holder uuid, heir uuid, backend int, endpoint text) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.epoch (store text, epoch bigint, revision bigint NOT NULL,
          version bigint NOT NULL, time bigint NOT NULL, checksum bigint NOT NULL, PRIMARY KEY (store, epoch))
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.record (store text, sequence bigint, term bigint NOT NULL,
          start bigint NOT NULL, "end" bigint NOT NULL, bytes int NOT NULL, checksum bigint NOT NULL,
          body bytea NOT NULL, PRIMARY KEY (store, sequence))
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.snapshot (store text, sequence bigint, revision bigint NOT NULL,
          interim boolean NOT NULL, chunks int NOT NULL, checksum bigint NOT NULL,
          context bytea NOT NULL, PRIMARY KEY (store, sequence))
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.chunk (store text, sequence bigint, index int, body bytea NOT NULL,
          PRIMARY KEY (store, sequence, index))
        """,
        """
        CREATE TABLE IF NOT EXISTS statecast.suspect (store text, session text, number bigint, crashes int NOT NULL,
          PRIMARY KEY (store, session, number))
        """,
        """
        CREATE UNLOGGED TABLE IF NOT EXISTS statecast.standby (store text, node uuid, head bigint NOT NULL,
          seen timestamptz NOT NULL, PRIMARY KEY (store, node))
        """,
        // Compressing them again would cost time and gain nothing.
        "ALTER TABLE statecast.record ALTER body SET STORAGE EXTERNAL",
        "ALTER TABLE statecast.chunk ALTER body SET STORAGE EXTERNAL",
        // `first` is the record at which the history here begins; `moved` is
        // "from PLACE" until a copy is complete, "to PLACE" while it is copied, and then "moved to PLACE".
        """
        CREATE TABLE IF NOT EXISTS statecast.store (store text PRIMARY KEY, format int NOT NULL,
          lineage bigint NOT NULL, begun bigint NOT NULL, first bigint NOT NULL, checksum bigint NOT NULL, moved text)
        """,
    ]
}

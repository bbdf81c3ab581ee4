/// How many rows a snapshot has.
package let snapshotRows = 100_000

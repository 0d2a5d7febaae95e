import type pg from 'pg';
import { salesRules } from '#indexer/ledger/sales/sale-rules.ts';
import type { KeptTransaction } from '#indexer/mempool/pending/kept-transactions.ts';
import type { PlacedInscription } from '#indexer/mempool/pending/pending-place.ts';
import type { PendingRunes, RuneMove } from '#indexer/mempool/pending/pending-runes.ts';
import type { PendingSale } from '#indexer/mempool/pending/pending-sales.ts';
import {
  type PendingInscription,
  type PendingMoves,
  storedScript,
} from '#indexer/mempool/pending/pending-transaction.ts';
import { type HashKey, hashOfKey } from '#indexer/mempool/stream/membership.ts';
import type { RevealPolicy } from '#kernel/contracts/node.ts';
import { confidences, moveClasses, saleForms } from '#kernel/sales/sale-names.ts';

/** A kept transaction with its rows to write. */
export interface PendingRows {
  readonly transaction: KeptTransaction;
  readonly moves: PendingMoves;
  /** Its effects on runes. Null: there are none, or runes are unknown. */
  readonly runes: PendingRunes | null;
  /** Its sales; empty if sales are unknown. */
  readonly sales: readonly PendingSale[];
  /** Time in milliseconds since 1970. */
  readonly seenAt: number;
}

export interface Departure {
  readonly position: number;
  readonly txid: HashKey;
  readonly reason: 'replaced' | 'evicted';
  readonly replacedBy: HashKey | null;
  readonly leftAt: number;
}

/** The row of chain.mempool_state. */
export interface MempoolStatus {
  readonly source: 'zmq' | 'polling';
  /** The known policy of the node at the start. A reveal among the rows turns `untested` into `accepted`. */
  readonly reveals: RevealPolicy;
  readonly transactions: number;
  readonly kept: number;
  readonly leftOut: number;
  readonly keptBytes: number;
  readonly since: Date;
}

/** Maximum number of stored departures: some hours of a busy network, and 1 MB. */
const departuresMax = 10_000;
/**
 * Maximum bytes of bodies in one statement. Bodies are sent as hex within a statement, which is built in one go: 1 MB
 * takes some ten milliseconds.
 */
const statementBytesMax = 1_000_000;

/** Empties the tables of pending transactions in the current transaction. Readers see the old rows until it commits. */
export async function clearPending(tx: pg.ClientBase): Promise<void> {
  // TRUNCATE would show empty tables to readers with an older snapshot
  await tx.query(`DELETE FROM chain.mempool_runes`);
  await tx.query(`DELETE FROM chain.mempool_etchings`);
  await tx.query(`DELETE FROM chain.mempool_sales`);
  await tx.query(`DELETE FROM chain.mempool_transfers`);
  await tx.query(`DELETE FROM chain.mempool_inscriptions`);
  await tx.query(`DELETE FROM chain.mempool_transactions`);
}

/** Deletes transactions with all their rows. */
export async function deletePending(tx: pg.ClientBase, txids: readonly HashKey[]): Promise<void> {
  if (txids.length === 0) return;
  await tx.query(
    `WITH gone AS (DELETE FROM chain.mempool_transactions WHERE txid = ANY($1) RETURNING position),
          sold AS (DELETE FROM chain.mempool_sales USING gone WHERE mempool_sales.position = gone.position),
          moved AS (DELETE FROM chain.mempool_transfers USING gone WHERE mempool_transfers.position = gone.position),
          runes AS (DELETE FROM chain.mempool_runes USING gone WHERE mempool_runes.position = gone.position),
          etched AS (DELETE FROM chain.mempool_etchings USING gone WHERE mempool_etchings.position = gone.position)
     DELETE FROM chain.mempool_inscriptions USING gone WHERE mempool_inscriptions.position = gone.position`,
    [txids.map(hashOfKey)],
  );
}

/** Inserts new transactions, in statements of bounded size. */
export async function insertPending(tx: pg.ClientBase, rows: readonly PendingRows[]): Promise<void> {
  for (let from = 0; from < rows.length; ) {
    let bytes = 0;
    let to = from;
    while (to < rows.length && (to === from || bytes < statementBytesMax)) {
      bytes += (rows[to++] as PendingRows).transaction.sizeBytes;
    }
    const chunk = rows.slice(from, to);
    await insertTransactions(tx, chunk);
    await insertInscriptions(tx, chunk);
    await insertTransfers(tx, chunk);
    await insertSales(tx, chunk);
    await insertRunes(tx, chunk);
    await insertEtchings(tx, chunk);
    from = to;
  }
}

async function insertTransactions(tx: pg.ClientBase, rows: readonly PendingRows[]): Promise<void> {
  await tx.query(
    `INSERT INTO chain.mempool_transactions
       (txid, position, first_seen, fee, vsize, replaces, block_height, block_hash)
     SELECT t.txid, t.position, to_timestamp(t.seen / 1000.0), t.fee, t.vsize, t.replaces, t.height, t.hash
       FROM unnest($1::bytea[], $2::bigint[], $3::float8[], $4::bigint[], $5::integer[], $6::bytea[], $7::integer[],
                   $8::bytea[]) AS t (txid, position, seen, fee, vsize, replaces, height, hash)`,
    [
      rows.map(({ transaction }) => hashOfKey(transaction.txid)),
      rows.map(({ transaction }) => transaction.position),
      rows.map(({ transaction, seenAt }) => transaction.entry?.firstSeen ?? seenAt),
      rows.map(({ transaction }) => transaction.entry?.fee ?? null),
      rows.map(({ transaction }) => transaction.vsize),
      rows.map(({ transaction }) => Buffer.concat(transaction.replaces.map(hashOfKey))),
      rows.map(({ transaction }) => transaction.block?.height ?? null),
      rows.map(({ transaction }) => bytesOrNull(transaction.block?.hash)),
    ],
  );
}

interface InscriptionRow {
  readonly transaction: KeptTransaction;
  readonly row: PendingInscription;
}

async function insertInscriptions(tx: pg.ClientBase, pending: readonly PendingRows[]): Promise<void> {
  const rows: InscriptionRow[] = pending.flatMap(({ transaction, moves }) =>
    moves.inscriptions.map((row) => ({ transaction, row })),
  );
  if (rows.length === 0) return;
  const column = <Value>(read: (row: PendingInscription) => Value): Value[] =>
    rows.map(({ row }) => read(row));
  await tx.query(
    `INSERT INTO chain.mempool_inscriptions
       (position, txid, index, input, content_type, sha256, variant, text, body, folded, decoded_sha256,
        decoded_length, metadata_json, metadata_folded, content_encoding, metaprotocol, delegate, claimed_parents,
        place, vout, sat_offset, value, script, title, traits, gallery)
     SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::integer[], $4::integer[], $5::bytea[], $6::bytea[],
       $7::smallint[], $8::smallint[], $9::bytea[], $10::bytea[], $11::bytea[], $12::integer[], $13::bytea[],
       $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[], $19::smallint[], $20::integer[],
       $21::bigint[], $22::bigint[], $23::bytea[], $24::bytea[], $25::bytea[], $26::bytea[])`,
    [
      rows.map(({ transaction }) => transaction.position),
      rows.map(({ transaction }) => hashOfKey(transaction.txid)),
      column(({ index }) => index),
      column(({ input }) => input),
      column(({ contentType }) => contentType),
      column(({ content }) => content?.sha256 ?? null),
      column(({ content }) => content?.variant ?? null),
      column(({ content }) => content?.text ?? null),
      column(({ content }) => content?.body ?? null),
      column(({ content }) => content?.folded ?? null),
      column(({ content }) => content?.decodedSha256 ?? null),
      column(({ content }) => content?.decodedLength ?? null),
      column(({ metadataJson }) => metadataJson),
      column(({ metadataFolded }) => metadataFolded),
      column(({ contentEncoding }) => contentEncoding),
      column(({ metaprotocol }) => metaprotocol),
      column(({ delegate }) => delegate),
      column(({ claimedParents }) => claimedParents),
      ...placeColumns(column(({ placed }) => placed)),
      column(({ title }) => title),
      column(({ traits }) => traits),
      column(({ gallery }) => gallery),
    ],
  );
}

async function insertTransfers(tx: pg.ClientBase, pending: readonly PendingRows[]): Promise<void> {
  const rows = pending.flatMap(({ transaction, moves }) =>
    moves.transfers.map((transfer) => ({ transaction, transfer })),
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ transfer }) => Buffer.from(transfer.inscription, 'latin1'));
  const outpoints = rows.map(({ transfer }) => Buffer.from(transfer.from.outpoint));
  await tx.query(
    `INSERT INTO chain.mempool_transfers
       (position, txid, inscription_txid, inscription_index, from_txid, from_vout, from_offset, from_script,
        place, vout, sat_offset, value, script)
     SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::integer[], $5::bytea[], $6::integer[],
       $7::bigint[], $8::bytea[], $9::smallint[], $10::integer[], $11::bigint[], $12::bigint[], $13::bytea[])`,
    [
      rows.map(({ transaction }) => transaction.position),
      rows.map(({ transaction }) => hashOfKey(transaction.txid)),
      ids.map((id) => id.subarray(0, 32)),
      ids.map((id) => id.readUInt32LE(32)),
      outpoints.map((outpoint) => outpoint.subarray(0, 32)),
      outpoints.map((outpoint) => outpoint.readUInt32LE(32)),
      rows.map(({ transfer }) => transfer.fromOffset),
      rows.map(({ transfer }) => storedScript(transfer.from.script)),
      ...placeColumns(rows.map(({ transfer }) => transfer.placed)),
    ],
  );
}

async function insertSales(tx: pg.ClientBase, pending: readonly PendingRows[]): Promise<void> {
  const rows = pending.flatMap(({ transaction: { position }, sales }) =>
    sales.map((sale) => ({ ...sale, position, id: Buffer.from(sale.inscription, 'latin1') })),
  );
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO chain.mempool_sales
       (position, inscription_txid, inscription_index, gross_payout, price, input, place, bundle, payout_output,
        fee_output, rules, class, form, confidence, sighash, wash, maker, taker)
     SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::integer[], $4::bigint[], $5::bigint[], $6::integer[],
       $7::integer[], $8::integer[], $9::integer[], $10::integer[], $11::smallint[], $12::smallint[], $13::smallint[],
       $14::smallint[], $15::smallint[], $16::boolean[], $17::bytea[], $18::bytea[])`,
    [
      rows.map(({ position }) => position),
      rows.map(({ id }) => id.subarray(0, 32)),
      rows.map(({ id }) => id.readUInt32LE(32)),
      rows.map(({ grossPayout }) => grossPayout),
      rows.map(({ price }) => price),
      rows.map(({ input }) => input),
      rows.map(({ place }) => place),
      rows.map(({ bundle }) => bundle),
      rows.map(({ payoutOutput }) => payoutOutput),
      rows.map(({ feeOutput }) => feeOutput),
      rows.map(() => salesRules),
      rows.map((row) => moveClasses[row.class]),
      rows.map(({ form }) => saleForms[form]),
      rows.map(({ confidence }) => confidences[confidence]),
      rows.map(({ sighash }) => sighash),
      rows.map(({ isWash }) => isWash),
      rows.map(({ maker }) => Buffer.from(maker)),
      rows.map(({ taker }) => bytesOrNull(taker ?? undefined)),
    ],
  );
}

/** Numbers of chain.mempool_runes.step. */
const runeSteps = { minted: 0, given: 1, burned: 2, taken: 3 } as const satisfies Record<
  RuneMove['step'],
  number
>;

async function insertRunes(tx: pg.ClientBase, pending: readonly PendingRows[]): Promise<void> {
  const rows = pending.flatMap(({ transaction: { position }, runes }) =>
    (runes?.moves ?? []).map((move) => ({ ...move, position })),
  );
  if (rows.length === 0) return;
  const fromOf = (outpoint: Uint8Array | undefined): Buffer | null =>
    outpoint === undefined ? null : Buffer.from(outpoint);
  await tx.query(
    `INSERT INTO chain.mempool_runes
       (position, vout, step, from_height, from_tx_index, rune_key, amount, etched_by, from_txid, script)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::integer[], $5::integer[], $6::integer[],
       $7::numeric[], $8::bytea[], $9::bytea[], $10::bytea[])`,
    [
      rows.map(({ position }) => position),
      rows.map(({ vout, from }) => fromOf(from?.outpoint)?.readInt32LE(32) ?? vout),
      rows.map(({ step }) => runeSteps[step]),
      rows.map(({ from }) => from?.place?.height ?? null),
      rows.map(({ from }) => from?.place?.tx ?? null),
      rows.map(({ key, etchedBy }) => (etchedBy === null ? key : null)),
      rows.map(({ amount }) => String(amount)),
      rows.map(({ etchedBy }) => bytesOrNull(etchedBy ?? undefined)),
      rows.map(({ from }) => fromOf(from?.outpoint)?.subarray(0, 32) ?? null),
      rows.map(({ script, from }) => bytesOrNull(script ?? from?.script)),
    ],
  );
}

async function insertEtchings(tx: pg.ClientBase, pending: readonly PendingRows[]): Promise<void> {
  const rows = pending.flatMap(({ transaction: { position }, runes }) =>
    runes === null || runes.etching === null ? [] : { ...runes.etching, position },
  );
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO chain.mempool_etchings
       (position, spacers, symbol, mature_height, divisibility, state, rune, premine)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::smallint[], $6::text[],
       $7::numeric[], $8::numeric[])`,
    [
      rows.map(({ position }) => position),
      rows.map(({ spacers }) => spacers),
      rows.map(({ symbol }) => symbol),
      rows.map(({ matureHeight }) => matureHeight),
      rows.map(({ divisibility }) => divisibility),
      rows.map(({ state }) => state),
      rows.map(({ rune }) => rune?.toString() ?? null),
      rows.map(({ premine }) => String(premine)),
    ],
  );
}

function placeColumns(placed: readonly PlacedInscription[]): unknown[] {
  return [
    placed.map(({ place }) => place),
    placed.map(({ output }) => output?.vout ?? null),
    placed.map(({ satOffset }) => satOffset),
    placed.map(({ output }) => output?.value ?? null),
    placed.map(({ output }) => (output === null ? null : storedScript(output.script))),
  ];
}

/** Sets the block that transactions are now in. Null: they are in no block. */
export async function setBlocks(tx: pg.ClientBase, transactions: readonly KeptTransaction[]): Promise<void> {
  if (transactions.length === 0) return;
  await tx.query(
    `UPDATE chain.mempool_transactions AS t SET block_height = b.height, block_hash = b.hash
       FROM unnest($1::bytea[], $2::integer[], $3::bytea[]) AS b (txid, height, hash) WHERE t.txid = b.txid`,
    [
      transactions.map(({ txid }) => hashOfKey(txid)),
      transactions.map(({ block }) => block?.height ?? null),
      transactions.map(({ block }) => bytesOrNull(block?.hash)),
    ],
  );
}

export async function insertDepartures(tx: pg.ClientBase, departures: readonly Departure[]): Promise<void> {
  if (departures.length === 0) return;
  await tx.query(
    `INSERT INTO chain.mempool_departures (position, txid, reason, replaced_by, left_at)
     SELECT d.position, d.txid, d.reason, d.replaced_by, to_timestamp(d.left_at / 1000.0)
       FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::bytea[], $5::float8[])
         AS d (position, txid, reason, replaced_by, left_at)
         ON CONFLICT DO NOTHING`,
    [
      departures.map(({ position }) => position),
      departures.map(({ txid }) => hashOfKey(txid)),
      departures.map(({ reason }) => reason),
      departures.map(({ replacedBy }) => (replacedBy === null ? null : hashOfKey(replacedBy))),
      departures.map(({ leftAt }) => leftAt),
    ],
  );
  await tx.query(
    `DELETE FROM chain.mempool_departures WHERE position <=
       (SELECT position FROM chain.mempool_departures ORDER BY position DESC OFFSET $1 LIMIT 1)`,
    [departuresMax],
  );
}

/**
 * SQL: whether a reveal was in the mempool. A row with a block that is not indexed yet proves nothing, because its
 * transaction may never have been in the mempool.
 */
const holdsReveal = `EXISTS (
  SELECT FROM chain.mempool_inscriptions JOIN chain.mempool_transactions USING (position) WHERE block_height IS NULL)`;

/**
 * Writes the state and, if rows changed, a revision that never existed before; notifies the listeners of
 * `satscribe_mempool`. Call it before rows are written: its lock excludes a process that is being replaced but still
 * writes. Returns false if the rows no longer belong to `status.since`, because a crash of the server emptied the
 * tables or another process filled them. All rows must then be written again. With `isFirst` the result is always true.
 */
export async function writeState(
  tx: pg.ClientBase,
  status: MempoolStatus,
  { isFirst, isChanged }: { isFirst: boolean; isChanged: boolean },
): Promise<boolean> {
  const { source, reveals, transactions, kept, leftOut, keptBytes, since } = status;
  // microseconds since 1970: higher than every revision before a crash that left no row
  const clock = Date.now() * 1000;
  const values = [clock, source, transactions, kept, leftOut, keptBytes, since, reveals];
  if (isFirst) {
    await tx.query(
      `INSERT INTO chain.mempool_state
         (revision, state, source, transactions, kept, left_out, kept_bytes, since, reveals, updated_at)
       VALUES ($1::bigint, 'following', $2, $3, $4, $5, $6, $7, $8, now())
       ON CONFLICT (one) DO UPDATE SET revision = greatest(mempool_state.revision + 1, $1), state = 'following',
         source = $2, transactions = $3, kept = $4, left_out = $5, kept_bytes = $6, since = $7, problem = NULL,
         reveals = $8, updated_at = now()`,
      values,
    );
  } else {
    const { rowCount } = await tx.query(
      `UPDATE chain.mempool_state
          SET revision = CASE WHEN $9::boolean THEN greatest(revision + 1, $1::bigint) ELSE revision END,
              state = 'following', source = $2, transactions = $3, kept = $4, left_out = $5, kept_bytes = $6,
              reveals = CASE WHEN $8::text = 'untested' AND (reveals = 'accepted' OR ${holdsReveal}) THEN 'accepted' ELSE $8::text END,
              problem = NULL, updated_at = now()
        WHERE since = $7`,
      [...values, isChanged],
    );
    if (rowCount === 0) return false;
  }
  if (isFirst || isChanged) await tx.query(`SELECT pg_notify('satscribe_mempool', '')`);
  return true;
}

/**
 * Stores the reason why the mempool is not followed. Readers do not show the tables while a reason is stored. Does
 * nothing if another process has taken over: `since` identifies the rows of this process.
 */
export async function writeProblem(
  pool: pg.Pool,
  source: MempoolStatus['source'],
  state: 'loading' | 'waiting' | 'ended',
  problem: string | null,
  since: Date,
): Promise<void> {
  const { rowCount } = await pool.query(
    `INSERT INTO chain.mempool_state
       (revision, state, source, transactions, kept, left_out, kept_bytes, problem, since, updated_at)
     VALUES ($1::bigint, $2, $3, 0, 0, 0, 0, $4, now(), now())
     ON CONFLICT (one) DO UPDATE SET revision = greatest(mempool_state.revision + 1, $1), state = $2, source = $3,
       problem = $4, updated_at = now()
     WHERE mempool_state.state <> 'following' OR mempool_state.since = $5
       OR mempool_state.updated_at < now() - interval '60 seconds'`,
    [Date.now() * 1000, state, source, problem, since],
  );
  if (rowCount === 0) return;
  await pool.query(`SELECT pg_notify('satscribe_mempool', '')`);
}

const bytesOrNull = (bytes: Uint8Array | undefined): Buffer | null =>
  bytes === undefined ? null : Buffer.from(bytes);

import { strict as assert } from 'node:assert';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type pg from 'pg';
import type { BlockEvents, KindEvents } from '#indexer/events/block-events.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { type CopyEncoder, copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { chainHashes, type HashedBlocks, type HashRow, hashedByKind } from './event-chains.ts';

const deflateBytes = promisify(deflate);
/**
 * zlib's level of compression for event texts. Half of a text is txids, which do not compress, so a higher level takes
 * five times as long for a few per cent.
 */
const deflateLevel = 1;

/** The events of a block in their stored form. A text is deflated, or null if it is not kept. */
export interface StoredBlockEvents {
  readonly ref: BlockRef;
  readonly kinds: readonly (Omit<KindEvents, 'text'> & { readonly deflated: Buffer | null })[];
}

/** Deflates the texts of a block on the threads of zlib. */
export async function deflateTexts({ ref, kinds }: BlockEvents): Promise<StoredBlockEvents> {
  return {
    ref,
    kinds: await Promise.all(
      kinds.map(async ({ text, ...events }) => ({
        ...events,
        deflated: text === null ? null : await deflateBytes(text, { level: deflateLevel }),
      })),
    ),
  };
}

/** The end of the outbox and of the chains of hashes. */
interface OutboxEnd {
  /** The last sequence; 0: the outbox is empty. */
  readonly sequence: number;
  /** The last hash of each chain of hashes, by the number of its kind. */
  readonly hashes: ReadonlyMap<number, EndOfHashes>;
}

interface EndOfHashes {
  readonly version: number;
  readonly height: number;
  readonly cumulative: Uint8Array;
}

const outboxTarget = { table: 'chain.outbox', columns: 'sequence, height, block_hash, event_count, events' };
const textsTarget = { table: 'chain.outbox_texts', columns: 'sequence, kind, height, event_count, events' };
const hashesTarget = {
  table: 'chain.event_hashes',
  columns: 'kind, version, height, sha256, cumulative_sha256',
};

/**
 * Adds the blocks of each batch to the outbox and to the chains of hashes. A block whose predecessor lacks a hash gets
 * no hash here (complete-event-hashes.ts).
 */
export class OutboxWriter {
  readonly #outbox = encoderOf(outboxTarget);
  readonly #texts = encoderOf(textsTarget);
  readonly #hashes = encoderOf(hashesTarget);
  /** The end after the last commit. Null: it must be read from the tables. */
  #end: OutboxEnd | null = null;
  /** The end after the batch that is being written. */
  #next: OutboxEnd | null = null;

  /** Whether the end of the outbox is known. */
  get isPrepared(): boolean {
    return this.#end !== null;
  }

  /**
   * Reads the end of the outbox before the blocks of a batch. Call it outside a transaction, if `isPrepared` is false.
   *
   * @param blocks in chain order
   * @param isFirst true if no block comes before these
   */
  async prepare(client: pg.ClientBase, blocks: readonly BlockEvents[], isFirst: boolean): Promise<void> {
    this.#end = await readOutboxEnd(client, blocks, isFirst);
  }

  /**
   * Sends the rows of a batch, deletes texts that are too old by now, and notifies listeners, in a pipelined
   * transaction.
   *
   * @param blocks in chain order
   * @param forgetUpTo delete texts of blocks up to this height; null: delete none
   */
  send(
    tx: pg.ClientBase,
    blocks: readonly StoredBlockEvents[],
    forgetUpTo: number | null,
  ): Promise<unknown>[] {
    this.#encode(blocks);
    const copies = [
      [outboxTarget, this.#outbox] as const,
      [textsTarget, this.#texts] as const,
      [hashesTarget, this.#hashes] as const,
    ].filter(([, encoder]) => encoder.rows > 0);
    return [
      ...copies.map(([target, encoder]) => copyBinary(tx, target, encoder)),
      tx.query(
        `WITH forgotten AS (
           UPDATE chain.outbox SET events = NULL WHERE events IS NOT NULL AND height <= $1
         ), forgotten_texts AS (
           UPDATE chain.outbox_texts SET events = NULL WHERE events IS NOT NULL AND height <= $1
         ) SELECT pg_notify('${outboxChannel}', '')`,
        [forgetUpTo ?? -1],
      ),
    ];
  }

  /** Call after the batch was committed: the next batch continues from its end. */
  committed(): void {
    this.#finish(this.#next);
  }

  /** Call after the batch failed or blocks were taken back: the end of the outbox is read again. */
  forget(): void {
    this.#finish(null);
  }

  #encode(blocks: readonly StoredBlockEvents[]): void {
    assert(this.#end !== null, 'the end of the outbox is known');
    const { sequence, hashes } = this.#end;
    const ends = new Map(hashes);
    for (const chain of hashedByKind(blocks)) {
      for (const { number, ...row } of chainHashes(chain, hashBefore(chain, hashes))) {
        this.#addHash(number, row);
        ends.set(number, row);
      }
    }
    blocks.forEach((block, at) => this.#addBlock(block, sequence + 1 + at));
    this.#next = { sequence: sequence + blocks.length, hashes: ends };
  }

  #finish(end: OutboxEnd | null): void {
    this.#end = end;
    this.#next = null;
    for (const encoder of [this.#outbox, this.#texts, this.#hashes]) encoder.reset();
  }

  #addHash(number: number, { version, height, sha256, cumulative }: Omit<HashRow, 'number'>): void {
    const out = this.#hashes;
    out.row();
    out.int2(number);
    out.int2(version);
    out.int4(height);
    out.range(sha256, 0, sha256.length);
    out.range(cumulative, 0, cumulative.length);
  }

  /** Adds the row of a block with its inscription events, and one row for each other kind that has begun. */
  #addBlock({ ref, kinds }: StoredBlockEvents, sequence: number): void {
    const own = kinds.find(({ kind }) => kind.number === inscriptionKind.number);
    const out = this.#outbox;
    out.row();
    out.int8(sequence);
    out.int4(ref.height);
    out.range(ref.hash, 0, ref.hash.length);
    out.int4(own?.count ?? 0);
    addText(out, own?.deflated ?? null);
    for (const { kind, firstHeight, count, deflated } of kinds) {
      if (kind.number === inscriptionKind.number || ref.height < firstHeight) continue;
      const texts = this.#texts;
      texts.row();
      texts.int8(sequence);
      texts.int2(kind.number);
      texts.int4(ref.height);
      texts.int4(count);
      addText(texts, deflated);
    }
  }
}

function addText(out: CopyEncoder, deflated: Buffer | null): void {
  if (deflated === null) out.null();
  else out.range(deflated, 0, deflated.length);
}

/** The cumulative hash before the first of some blocks. Null if there is no earlier hash. */
function hashBefore(
  { number, version, blocks }: HashedBlocks,
  ends: ReadonlyMap<number, EndOfHashes>,
): Uint8Array | null {
  const end = ends.get(number);
  const first = blocks[0]?.height ?? 0;
  return end !== undefined && end.version === version && end.height === first - 1 ? end.cumulative : null;
}

/**
 * Reads the end of the outbox and of the chains of hashes before these blocks. Completes an outbox that is older than
 * the blocks of its database.
 *
 * @param isFirst true if no block comes before these
 */
async function readOutboxEnd(
  client: pg.ClientBase,
  blocks: readonly BlockEvents[],
  isFirst: boolean,
): Promise<OutboxEnd> {
  const chains = hashedByKind(blocks).map(({ number, version, blocks: [first] }) => ({
    number,
    version,
    height: (first?.height ?? 0) - 1,
  }));
  const { rows } = await client.query<{
    last: number | null;
    kind: number | null;
    cumulative: Buffer | null;
  }>(
    `SELECT o.last, h.kind, h.cumulative_sha256 AS cumulative
     FROM (SELECT max(sequence) AS last FROM chain.outbox) AS o
     LEFT JOIN unnest($1::smallint[], $2::smallint[], $3::integer[]) AS c(kind, version, height) ON true
     LEFT JOIN chain.event_hashes h ON h.kind = c.kind AND h.version = c.version AND h.height = c.height`,
    [
      chains.map(({ number }) => number),
      chains.map(({ version }) => version),
      chains.map(({ height }) => height),
    ],
  );
  const sequence = rows[0]?.last ?? null;
  if (sequence === null && !isFirst) {
    await withTransaction(client, completeOutbox);
    return readOutboxEnd(client, blocks, true);
  }
  const hashes = new Map<number, EndOfHashes>();
  for (const { number, version, height } of chains) {
    const cumulative = rows.find(({ kind }) => kind === number)?.cumulative ?? null;
    if (cumulative !== null) hashes.set(number, { version, height, cumulative });
  }
  return { sequence: sequence ?? 0, hashes };
}

/**
 * Adds missing outbox rows, in chain order, to a database that was made before the outbox existed. Costs one query if
 * nothing is missing. Needs a transaction.
 */
export async function completeOutbox(tx: pg.ClientBase): Promise<void> {
  const { rows } = await tx.query(
    'SELECT WHERE EXISTS (SELECT FROM chain.blocks) AND NOT EXISTS (SELECT FROM chain.outbox)',
  );
  if (rows.length === 0) return;
  // no join here, because the writer's session would join by index, row by row
  await tx.query(
    `INSERT INTO chain.outbox (sequence, height, block_hash, event_count)
     SELECT row_number() OVER (ORDER BY height), height, string_agg(hash, ''::bytea), sum(events)
     FROM (
       SELECT height, hash, 0 AS events FROM chain.blocks
       UNION ALL SELECT spent_height, NULL, 1 FROM chain.locations WHERE spent_height IS NOT NULL
       UNION ALL SELECT height, NULL, 1 FROM chain.inscriptions
     ) AS happened GROUP BY height`,
  );
}

/** Adds the row for a block that is taken back, in the transaction that deletes the block's rows. */
export async function recordUndone(tx: pg.ClientBase, { height, hash }: BlockRef): Promise<void> {
  // a block that was applied, taken back and applied again has several rows: the last one counts
  const { rowCount } = await tx.query(
    `WITH added AS (
       INSERT INTO chain.outbox (sequence, height, block_hash, cancels, event_count)
       SELECT (SELECT max(sequence) + 1 FROM chain.outbox), applied.height, applied.block_hash, applied.sequence, 0
       FROM (SELECT height, block_hash, sequence FROM chain.outbox
             WHERE height = $1 AND block_hash = $2 AND cancels IS NULL AND reclassified IS NULL ORDER BY sequence DESC LIMIT 1) AS applied
       RETURNING sequence
     ) SELECT pg_notify('${outboxChannel}', '') FROM added`,
    [height, hash],
  );
  assert(rowCount === 1, 'a block that is taken back has no row in the outbox');
}

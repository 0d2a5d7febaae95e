import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { hasBlock, whyBehind } from '#chain/derived/derived-tables.queries.ts';
import type { BlockEventText, TextRange } from '#chain/events/stored-event-kind.ts';
import type {
  DerivedBlock,
  DerivedQuestion,
  DerivedRows,
  DerivedTable,
  RowSets,
} from '#indexer/derived/derived-table.ts';
import type { EventKind, LedgerEvents } from '#indexer/events/event-kind.ts';
import type { OutputColumns } from '#indexer/facts/output-columns.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

const hashLength = 32;
const outpointLength = 36;
const name = 'test_payments';

/** The first height whose block has rows. */
export const paymentsFrom = 120;

/** Every query so far, for tests: the lowest block without rows, and whether a batch was being committed. */
export const paymentQuestions: { readonly below: number; readonly isCommitting: boolean }[] = [];

export const paymentTables = `
  CREATE TABLE chain.test_payments (height integer PRIMARY KEY, outputs integer NOT NULL, sats bigint NOT NULL,
    spent_sats bigint NOT NULL);
  CREATE TABLE chain.test_coins (txid bytea, vout integer, sats bigint NOT NULL, height integer NOT NULL,
    spent_height integer, PRIMARY KEY (txid, vout))`;

const identity: EventKindIdentity = { name: 'payments', number: 8, letter: 'p', version: 1 };
const words = { paid: Buffer.from('paid'), spent: Buffer.from('spent ') } as const;

/** A coin of an earlier block that a block spends. */
interface SpentCoin {
  /** The 36 bytes that a transaction contains. */
  readonly outpoint: Buffer;
  readonly sats: number;
}

/** Writes one line for the payments of a block, and one line for each coin that the block spends, by outpoint. */
function writeLines(
  out: EventTextWriter,
  { outputs, sats }: { readonly outputs: number; readonly sats: number },
  spent: readonly SpentCoin[],
): void {
  out.word(Buffer.concat([words.paid, Buffer.from(` ${outputs} ${sats}`)]));
  out.endLine();
  for (const { outpoint, sats: value } of spent.toSorted((a, b) => Buffer.compare(a.outpoint, b.outpoint))) {
    out.word(words.spent);
    out.inOutput(outpoint, 0, outpoint.readUInt32LE(hashLength), value);
    out.endLine();
  }
}

/** Events whose lines are the rows of `test_payments` and `test_coins`. */
const paymentEvents: EventKind = {
  ...identity,
  indexes: [],
  firstHeight: () => asHeight(paymentsFrom),
  isKnownAt: (client, height) => hasBlock(client, name, height),
  whyNotReadable: (client) => whyBehind(client, name),
  readTexts,
  parseLine: (line) => ({ type: line.split(' ')[0] ?? '' }),
};

async function readTexts(
  client: pg.ClientBase,
  network: NetworkName,
  { from, to, keep }: TextRange,
): Promise<BlockEventText[]> {
  const blocks = await client.query<{ height: Height; hash: BlockHash; outputs: number; sats: number }>(
    `SELECT height, hash, outputs, sats FROM chain.blocks LEFT JOIN chain.test_payments USING (height)
     WHERE height BETWEEN $1 AND $2 ORDER BY height`,
    [from, to],
  );
  const coins = await client.query<{ at: number; txid: Buffer; vout: number; sats: number }>(
    `SELECT spent_height AS at, txid, vout, sats FROM chain.test_coins
     WHERE spent_height BETWEEN $1 AND $2 AND height < spent_height`,
    [from, to],
  );
  const out = new EventTextWriter(Number.POSITIVE_INFINITY);
  return blocks.rows.map(({ height, hash, outputs, sats }) => {
    const spent = coins.rows
      .filter(({ at }) => at === height)
      .map((coin) => ({ outpoint: outpointOf(coin), sats: coin.sats }));
    const isKnown = outputs !== null;
    out.begin(identity, network, { height, hash }, keep);
    if (isKnown) writeLines(out, { outputs, sats }, spent);
    return {
      ref: { height, hash: asBlockHash(Uint8Array.from(hash)) },
      count: isKnown ? 1 + spent.length : 0,
      isKnown,
      ...out.finish(),
    };
  });
}

function outpointOf({ txid, vout }: { readonly txid: Buffer; readonly vout: number }): Buffer {
  const outpoint = Buffer.alloc(outpointLength);
  txid.copy(outpoint);
  outpoint.writeUInt32LE(vout, hashLength);
  return outpoint;
}

function outputsOf({ facts: { outputs } }: ParsedBlock): OutputColumns {
  assert(outputs !== undefined, 'the outputs of a block were not read');
  return outputs;
}

function* spentOutpoints(block: ParsedBlock): Generator<Buffer> {
  for (const at of outputsOf(block).spendAt) yield Buffer.from(block.bytes.subarray(at, at + outpointLength));
}

const keyOf = (outpoint: Buffer): string => outpoint.toString('latin1');

class PaymentRows implements DerivedRows {
  readonly #payments: CopyEncoder;
  readonly #coins: CopyEncoder;
  /** The sats of coins that blocks of this batch made, by outpoint. */
  readonly #made = new Map<string, number>();
  /** The sats of earlier blocks' coins that blocks of this batch spend, by outpoint. */
  readonly #known = new Map<string, number>();
  readonly #spends: { readonly coin: SpentCoin; readonly height: number }[] = [];
  #last: { readonly outputs: number; readonly sats: number; readonly spent: readonly SpentCoin[] } | null =
    null;

  constructor(payments: CopyEncoder, coins: CopyEncoder) {
    this.#payments = payments;
    this.#coins = coins;
  }

  async ask({ client, blocks, below, before }: DerivedQuestion): Promise<void> {
    assert(before === null || before instanceof PaymentRows, 'rows of another table');
    paymentQuestions.push({ below, isCommitting: before !== null });
    const asked: Buffer[] = [];
    for (const outpoint of blocks.flatMap((block) => [...spentOutpoints(block)])) {
      const sats = before === null ? undefined : before.#made.get(keyOf(outpoint));
      if (sats === undefined) asked.push(outpoint);
      else this.#known.set(keyOf(outpoint), sats);
    }
    const { rows } = await client.query<{ txid: Buffer; vout: number; sats: number }>(
      `SELECT c.txid, c.vout, c.sats FROM unnest($1::bytea[], $2::integer[]) AS asked(txid, vout)
       JOIN chain.test_coins c USING (txid, vout)
       WHERE c.height < $3 AND (c.spent_height IS NULL OR c.spent_height >= $3)`,
      [
        asked.map((outpoint) => outpoint.subarray(0, hashLength)),
        asked.map((outpoint) => outpoint.readInt32LE(hashLength)),
        below,
      ],
    );
    for (const { sats, ...coin } of rows) this.#known.set(keyOf(outpointOf(coin)), sats);
  }

  add({ block }: DerivedBlock): void {
    const { height } = block.ref;
    const { value, tx, vout, txid, spent: isSpent } = outputsOf(block);
    const spent: SpentCoin[] = [];
    for (const outpoint of spentOutpoints(block)) {
      const key = keyOf(outpoint);
      const sats = this.#made.get(key) ?? this.#known.get(key);
      // the coin was made below the first height
      if (sats === undefined) continue;
      spent.push({ outpoint, sats });
      this.#spends.push({ coin: { outpoint, sats }, height });
    }
    for (let row = 0; row < value.length; row++) {
      this.#coins.row();
      this.#coins.range(txid, tx[row]! * hashLength, hashLength);
      this.#coins.int4(vout[row]!);
      this.#coins.int8(value[row]!);
      this.#coins.int4(height);
      if (isSpent[row] === 1) this.#coins.int4(height);
      else this.#coins.null();
      const start = tx[row]! * hashLength;
      const id = Buffer.from(txid.subarray(start, start + hashLength));
      this.#made.set(keyOf(outpointOf({ txid: id, vout: vout[row]! })), value[row]!);
    }
    const sats = value.reduce((sum, each) => sum + each, 0);
    this.#payments.row();
    this.#payments.int4(height);
    this.#payments.int4(value.length);
    this.#payments.int8(sats);
    this.#payments.int8(spent.reduce((sum, each) => sum + each.sats, 0));
    this.#last = { outputs: value.length, sats, spent };
  }

  events(): LedgerEvents {
    const last = this.#last;
    assert(last !== null, 'no block was added');
    const write = (out: EventTextWriter): void => writeLines(out, last, last.spent);
    return { count: 1 + last.spent.length, isKnown: true, write };
  }

  async write(tx: pg.ClientBase): Promise<void> {
    const { rowCount } = await tx.query(
      `UPDATE chain.test_coins c SET spent_height = s.height
       FROM unnest($1::bytea[], $2::integer[], $3::integer[]) AS s(txid, vout, height)
       WHERE c.txid = s.txid AND c.vout = s.vout AND c.spent_height IS NULL`,
      [
        this.#spends.map(({ coin: { outpoint } }) => outpoint.subarray(0, hashLength)),
        this.#spends.map(({ coin: { outpoint } }) => outpoint.readInt32LE(hashLength)),
        this.#spends.map(({ height }) => height),
      ],
    );
    assert.equal(rowCount, this.#spends.length, 'a spent coin is missing');
  }

  async compare(tx: pg.ClientBase, { block: { ref } }: DerivedBlock): Promise<RowSets[]> {
    const { rows } = await tx.query<{ txid: Buffer; vout: number }>(
      'SELECT txid, vout FROM chain.test_coins WHERE spent_height = $1 AND height < $1',
      [ref.height],
    );
    return [
      {
        table: 'chain.test_coins',
        column: 'spent_height',
        expected: this.#spends.map(({ coin }) => coin.outpoint.toString('hex')),
        found: rows.map((row) => outpointOf(row).toString('hex')),
      },
    ];
  }
}

/**
 * The payments and spends of each block from a height on, with their own events. They come from a fact that no other
 * table needs, and from coins of earlier blocks.
 */
export const payments: DerivedTable = {
  name,
  facts: ['outputs'],
  targets: [
    { table: 'chain.test_payments', columns: 'height, outputs, sats, spent_sats', keyColumns: 1 },
    { table: 'chain.test_coins', columns: 'txid, vout, sats, height, spent_height', keyColumns: 2 },
  ],
  indexes: {
    test_payments_sats: { table: 'chain.test_payments', columns: 'sats' },
    test_coins_height: { table: 'chain.test_coins', columns: 'height', isForUndo: true },
    test_coins_spent: { table: 'chain.test_coins', columns: 'spent_height', isForUndo: true },
  },
  firstHeight: () => asHeight(paymentsFrom),
  isWanted: () => true,
  eventKind: paymentEvents,
  begin: ([rows, coins]) => new PaymentRows(rows!, coins!),
  async undo(tx, { ref: { height } }) {
    await tx.query('DELETE FROM chain.test_payments WHERE height = $1', [height]);
    await tx.query('DELETE FROM chain.test_coins WHERE height = $1', [height]);
    await tx.query('UPDATE chain.test_coins SET spent_height = NULL WHERE spent_height = $1', [height]);
  },
};

/** All rows of the table, and its events: hashes, and the number of events of each block of the chain. */
export async function dumpPayments(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `SELECT 'payment ' || to_jsonb(p)::text AS line FROM chain.test_payments p
     UNION ALL SELECT 'coin ' || to_jsonb(c)::text FROM chain.test_coins c
     UNION ALL SELECT 'hash ' || to_jsonb(h)::text FROM chain.event_hashes h WHERE kind = 8
     UNION ALL SELECT 'events ' || t.height || ' ' || t.event_count FROM chain.outbox_texts t
       JOIN chain.outbox o USING (sequence)
       WHERE kind = 8 AND NOT EXISTS (SELECT FROM chain.outbox c WHERE c.cancels = o.sequence)
     ORDER BY 1`,
  );
  return rows.map(({ line }) => line);
}

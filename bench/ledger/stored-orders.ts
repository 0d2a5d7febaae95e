import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type pg from 'pg';
import { migrationNames } from '#kernel/pg/migrate.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';

/** The last migration before all subjects shared a ledger. The rows below are rows of that version. */
const lastMigration = '0030_return_costs';
const ordersAtOnce = 1000;
/** Heights of the block that has all transactions, and of the tip. */
const minedHeight = 100;
const tipHeight = 110;
const madeAt = '2026-01-01T00:00:00Z';

/** Amounts in an order of one file, in sats. */
const postage = 546;
const fee = 400;
const amount = 3446;
const overpaid = 50_000;
const refundFee = 300;
const bumpFee = 500;
const commission = 300;
const additional = 500;

/** An unspent output that pays a script of the wallet. */
export interface OwnCoin {
  readonly value: number;
  readonly script: string;
}

/** The tip and the coins that a node must return for a database of an earlier version. */
export interface StoredOrders {
  readonly tip: string;
  readonly coins: ReadonlyMap<string, OwnCoin>;
}

/** Migrates an empty database to the version before all subjects shared a ledger. */
export async function migrateToEarlierVersion(client: pg.Client): Promise<void> {
  const names = await migrationNames('service');
  const steps = {
    chain: (await migrationNames('chain')).length,
    service: names.filter((name) => name <= lastMigration).length,
  };
  for (const schema of ['chain', 'service'] as const)
    await runner({
      dbClient: client,
      dir: fileURLToPath(new URL(`../../migrations/${schema}`, import.meta.url)),
      direction: 'up',
      count: steps[schema],
      schema,
      createSchema: true,
      migrationsSchema: schema,
      createMigrationsSchema: true,
      migrationsTable: 'migrations',
      checkOrder: true,
      log: () => undefined,
    });
}

/**
 * Fills such a database with delivered orders of one file, as the earlier version stored them. Every tenth order was
 * paid too much, and the excess is refunded. Every fifth names a referral, every twentieth was bumped, and every
 * hundredth waits for its payment.
 */
export async function fillOrders(client: pg.Client, count: number): Promise<StoredOrders> {
  const tip = hashOf('tip');
  const coins = new Map<string, OwnCoin>();
  await client.query(
    `INSERT INTO chain.state (network, fingerprint_key, tip_height, tip_hash, text_rules, cbor_rules)
     VALUES ('regtest', sha256('key'), $1, $2, 1, 1)`,
    [tipHeight, tip],
  );
  await client.query(
    'INSERT INTO service.payments_offset (height, hash, scripts, updated_at) VALUES ($1, $2, 0, now())',
    [tipHeight, tip],
  );
  await client.query(
    `INSERT INTO service.referrals (code, address, script) VALUES ('friend', 'an address', '\\x51')`,
  );
  for (let from = 0; from < count; from += ordersAtOnce) {
    const rows = new Rows(coins);
    for (let number = from; number < Math.min(count, from + ordersAtOnce); number++) addOrder(rows, number);
    await withTransaction(client, (tx) => rows.insert(tx));
  }
  await client.query('VACUUM ANALYZE');
  return { tip: displayHash(trustedTxid(tip)), coins };
}

type Row = Readonly<Record<string, unknown>>;

/** Collects the rows of some orders, by table. */
class Rows {
  readonly coins: Map<string, OwnCoin>;
  readonly #tables = new Map<string, Row[]>();

  constructor(coins: Map<string, OwnCoin>) {
    this.coins = coins;
  }

  add(table: string, row: Row): void {
    const rows = this.#tables.get(table) ?? [];
    rows.push(row);
    this.#tables.set(table, rows);
  }

  /** Inserts the rows, table by table in the order of first use. Rows that others refer to come before these others. */
  async insert(tx: pg.ClientBase): Promise<void> {
    for (const [table, rows] of this.#tables) {
      const columns = [...new Set(rows.flatMap(Object.keys))].join(', ');
      await tx.query(
        `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1)`,
        [JSON.stringify(rows)],
      );
    }
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const bytea = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;
const shown = (txid: Buffer): string => displayHash(trustedTxid(txid));
const scriptOf = (text: string): string => `5120${hashOf(text).toString('hex')}`;

function addOrder(rows: Rows, number: number): void {
  const id = hashOf(`order ${number}`).toString('hex').slice(0, 32);
  const isPaid = number % 100 !== 99;
  const referral = number % 5 === 0 ? 'friend' : null;
  addStoredOrder(rows, number, id, isPaid, referral);
  if (!isPaid) return;
  const extra = number % 10 === 0 ? overpaid : 0;
  const payment = hashOf(`payment ${number}`);
  addOutput(rows, payment, `order ${number}`, amount + extra);
  addEntry(rows, id, ['outside', 'owed'], amount + extra, payment, 0);
  const reveal = hashOf(`reveal ${number}`);
  const kept = amount + extra - postage - fee;
  addTransaction(rows, id, reveal, {
    kind: 'reveal',
    fee,
    input: { outpoint: `${shown(payment)}:0`, value: amount + extra },
    outputs: [
      { kind: 'postage', value: postage, script: scriptOf(`receiver ${number}`) },
      { kind: 'service', value: kept, script: scriptOf(`own ${number}`) },
    ],
  });
  addInscription(rows, number, reveal);
  const shared = referral === null ? 0 : additional;
  addEntry(rows, id, ['owed', 'postage'], postage, reveal);
  addEntry(rows, id, ['owed', 'service'], kept - extra - shared, reveal);
  if (shared > 0) addEntry(rows, id, ['owed', 'referral'], shared, reveal);
  addEntry(rows, id, ['owed', 'fee'], fee, reveal);
  if (shared > 0) addEntry(rows, id, ['service', 'referral'], commission, reveal);
  const rest = { outpoint: `${shown(reveal)}:1`, value: kept };
  if (extra > 0) addRefund(rows, id, number, rest);
  else if (number % 20 === 5) addBump(rows, id, number, reveal, rest);
  else rows.coins.set(rest.outpoint, { value: kept, script: scriptOf(`own ${number}`) });
}

function addStoredOrder(
  rows: Rows,
  number: number,
  id: string,
  isPaid: boolean,
  referral: string | null,
): void {
  const at = isPaid ? madeAt : null;
  rows.add('service.orders', {
    id,
    kind: 'direct',
    state: isPaid ? 'completed' : 'waiting-payment',
    step: isPaid ? 5 : 0,
    key_index: number,
    own_index: number,
    script: `\\x${scriptOf(`order ${number}`)}`,
    address: `bcrt1p${id}`,
    paid_to: 'direct',
    amount,
    quote: { chainFee: fee, serviceFee: 3000, baseFee: 2000, additionalFeeCharged: 0, postage, amount },
    request: { count: 1, fee: 2, postage, receiveAddress: null, referral, refundAddress: null },
    terms: { receivers: [scriptOf(`receiver ${number}`)], parents: [], burn: false, feeRate: '2000' },
    created_at: madeAt,
    expires_at: '2026-01-04T00:00:00Z',
    paid_at: at,
    completed_at: at,
    referral,
    extra_cost: 0,
  });
  const content = bytea(hashOf(`content ${number}`));
  const name = { name: 'a.txt', size: 100, type: 'text/plain' };
  rows.add('service.order_files', { order_id: id, index: 0, sha256: content, shown: name });
  rows.add('service.order_leaves', { order_id: id, index: 0, leaf: `\\x${'51'.repeat(200)}` });
  rows.add('service.watched_scripts', {
    script: `\\x${scriptOf(`order ${number}`)}`,
    // the id with hyphens, as Postgres shows it
    watcher: `order ${id.replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-')}`,
    since_height: 1,
    picked_up: true,
  });
}

/** Adds an output that is in a block and pays a watched script. */
function addOutput(rows: Rows, txid: Buffer, script: string, value: number): void {
  rows.add('service.payments_seen', {
    txid: bytea(txid),
    vout: 0,
    script: `\\x${scriptOf(script)}`,
    value,
    first_seen: madeAt,
    height: minedHeight,
    hash: bytea(hashOf('block')),
    change: 1,
  });
}

interface StoredOutput {
  readonly kind: string;
  readonly value: number;
  readonly script: string;
}
type StoredInput = Readonly<{ outpoint: string; value: number }>;

function addTransaction(
  rows: Rows,
  id: string,
  txid: Buffer,
  made: {
    readonly kind: 'reveal' | 'refund';
    readonly fee: number;
    readonly input: StoredInput;
    readonly outputs: readonly StoredOutput[];
  },
): void {
  rows.add('service.order_transactions', {
    txid: bytea(txid),
    order_id: id,
    kind: made.kind,
    index: 0,
    files: made.kind === 'reveal' ? 1 : 0,
    bytes: `\\x${'00'.repeat(250)}`,
    plan: { inputs: [made.input], outputs: made.outputs },
    fee: made.fee,
    made_at: madeAt,
    sent_at: madeAt,
  });
}

function addInscription(rows: Rows, number: number, reveal: Buffer): void {
  const script = `\\x${scriptOf(`receiver ${number}`)}`;
  const at = { key: number, height: minedHeight };
  rows.add('chain.inscriptions', { ...at, index: 0, tx_index: 1, input: 0, flags: 0, txid: bytea(reveal) });
  rows.add('chain.locations', { ...at, sat_offset: 0, value: postage, step: 0, vout: 0, place: 0, script });
}

function addEntry(
  rows: Rows,
  id: string,
  [from, to]: readonly [string, string],
  sats: number,
  txid: Buffer,
  vout: number | null = null,
): void {
  rows.add('service.ledger_entries', {
    order_id: id,
    from_account: from,
    to_account: to,
    sats,
    txid: bytea(txid),
    vout,
    at: madeAt,
  });
}

function addRefund(rows: Rows, id: string, number: number, input: StoredInput): void {
  const refund = hashOf(`refund ${number}`);
  const sent = overpaid - refundFee;
  const change = { kind: 'change', value: input.value - overpaid, script: scriptOf(`own ${number}`) };
  addTransaction(rows, id, refund, {
    kind: 'refund',
    fee: refundFee,
    input,
    outputs: [{ kind: 'refund', value: sent, script: scriptOf(`customer ${number}`) }, change],
  });
  addOutput(rows, refund, `customer ${number}`, sent);
  addEntry(rows, id, ['owed', 'outside'], sent, refund);
  addEntry(rows, id, ['owed', 'fee'], refundFee, refund);
  rows.coins.set(`${shown(refund)}:1`, change);
}

function addBump(rows: Rows, id: string, number: number, reveal: Buffer, input: StoredInput): void {
  const bump = hashOf(`bump ${number}`);
  const script = scriptOf(`own ${number}`);
  const rest = { kind: 'bump', value: input.value - bumpFee, script };
  rows.add('service.bumps', {
    txid: bytea(bump),
    family: bytea(bump),
    bytes: `\\x${'00'.repeat(150)}`,
    plan: { inputs: [input], outputs: [rest] },
    fee: bumpFee,
    virtual_bytes: 110,
    own_index: number,
    made_at: madeAt,
    sent_at: madeAt,
  });
  rows.add('service.bump_inputs', { txid: bytea(reveal), vout: 1, bump: bytea(bump) });
  rows.add('service.bump_parents', { bump: bytea(bump), parent: bytea(reveal) });
  rows.add('service.bump_shares', { bump: bytea(bump), order_id: id, fee: bumpFee });
  addOutput(rows, bump, `own ${number}`, rest.value);
  addEntry(rows, id, ['operator', 'fee'], bumpFee, bump);
  rows.coins.set(`${shown(bump)}:0`, rest);
}

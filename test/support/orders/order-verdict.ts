import { brotliDecompressSync } from 'node:zlib';
import type pg from 'pg';
import { type Order, readOrder } from '#orders/order/order.store.ts';
import { readTransactions } from '#orders/order/order-transactions.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf, type LedgerAccount } from '#purse/ledger/ledger.ts';
import { type ChainMoney, fateOf, type MoneyFate, type MoneyOf } from './money-on-chain.ts';

/**
 * Largest payment that may stay unrefunded, in sats. It is below the fee of its refund at 10 sat/vB
 * (docs/orders-api.md).
 */
const worthless = 580;
/**
 * Sats that may stay owed. A refund costs 1,110 sats at 10 sat/vB, which is more than nodes of tests estimate, and 330
 * sats must remain.
 */
export const leastRefund = 1500;

/**
 * Whether an order failed because another transaction etched its name before the order's reveal, which was mined too.
 */
export const isNameLost = ({ state, error }: Pick<Order, 'error'> & { readonly state: string }): boolean =>
  state === 'error' &&
  error?.startsWith('The reveal etched nothing, because another transaction etched the name first') === true;

/** Virtual bytes of one input. The service pays for each payment beyond the first. */
const inputVirtualBytes = 58;

/** An order of a test, with its owner. No other order has the same contents. */
export interface OrderOfTest extends Pick<MoneyOf, 'receivers' | 'refund' | 'inventory' | 'parents'> {
  readonly id: string;
  readonly contents: readonly string[];
}

export interface OrderVerdict {
  readonly state: string;
  readonly fate: MoneyFate;
  readonly isDelivered: boolean;
  /** Texts that describe the faults. */
  readonly faults: readonly string[];
  /** Sats that are lost, or have a wrong owner. */
  readonly lost: number;
}

/**
 * Checks the end of an order. It must be delivered once or refunded once on the chain, and its ledger must agree. The
 * check follows the money on the chain, starting with the payments.
 */
export async function verdictOfOrder(
  pool: pg.Pool,
  chain: ChainMoney,
  { id, contents, ...scripts }: OrderOfTest,
): Promise<OrderVerdict> {
  const order = await readOrder(pool, id);
  if (order === null) throw new Error(`there is no order ${id}`);
  const operator = await paidByOperator(pool, id);
  const fate = fateOf(chain, { ...scripts, address: order.script.toString('hex'), operator });
  const isDelivered = fate.delivered.length > 0;
  const inscribed = await countInscribed(pool, contents);
  const balances = balancesOf(await readEntries(pool, { kind: 'order', id }));
  const money = !isDelivered
    ? refundedFaults(fate)
    : isNameLost(order)
      ? lostNameFaults(order, fate)
      : order.terms.mint === undefined
        ? deliveredFaults(order, fate, scripts.receivers)
        : mintedFaults(order, fate);
  const faults = [
    ...endFaults(order, fate),
    ...money.faults,
    ...fate.foreign.map((input) => `its transactions spend ${input}, which is not its money`),
    ...(fate.borrowed === 0 ? [] : [`keeps ${fate.borrowed} sats of parents`]),
    ...(await customersAmong(pool, fate.given)).map(
      (script) => `its returns are paid by ${script}, a customer`,
    ),
    ...contents.flatMap((content, place) => {
      const count = inscribed.get(content) ?? 0;
      return count === (isDelivered ? 1 : 0) ? [] : [`file ${place} is inscribed ${count} times`];
    }),
    ...ledgerFaults(balances, fate),
    ...(await rivals(pool, id)),
  ];
  return {
    state: order.state,
    fate,
    isDelivered,
    faults: faults.map((fault) => `${id} ${fault}`),
    lost: money.lost,
  };
}

/**
 * Checks that an order may stay in its state. It may wait while its money is below the fee of a refund, perhaps for
 * ever.
 */
function endFaults({ state, error }: Order, { paid, left }: MoneyFate): string[] {
  if (isNameLost({ state, error })) return [];
  const ends = ['completed', 'refunded', ...(paid === 0 ? ['expired', 'cancelled'] : [])];
  const isWaiting = state === 'waiting-refund' && left.length > 0;
  return ends.includes(state) || isWaiting
    ? []
    : [`ended as ${state} (${error ?? 'no error'}), paid ${paid} sats`];
}

/**
 * Faults of mined mints. Each mint has its postage, and the service keeps at most its fees of all mints. Other checks
 * compare their ledger, index, outputs and refunds.
 */
function mintedFaults(
  { state, quote, amount, terms }: Order,
  { delivered, kept, left, paid }: MoneyFate,
): { faults: string[]; lost: number } {
  const count = terms.mint?.count ?? 0;
  const faults: string[] = [];
  if (state !== 'completed') faults.push(`has mints in blocks and is ${state}`);
  if (BigInt(paid) < amount) faults.push(`is delivered for ${paid} of ${amount} sats`);
  if (delivered.length > count || delivered.some((value) => value !== quote.postage))
    faults.push(`gives ${delivered.join(', ')} sats for ${count} mints, and not ${quote.postage} each`);
  const most = quote.serviceFee - quote.postage * count + leastRefund;
  const lost = Math.max(0, kept - most) + owedOf(left);
  if (lost > 0) faults.push(`leaves ${kept} sats with the service, and ${left.join(', ')} nowhere`);
  return { faults, lost };
}

/** Faults of an order that etched nothing. The service may keep only sats below the fee of a refund. */
function lostNameFaults(
  order: Order,
  { delivered, kept, left }: MoneyFate,
): { faults: string[]; lost: number } {
  const faults = postageFaults(order, delivered);
  const lost = (kept < leastRefund ? 0 : kept) + owedOf(left);
  if (lost > 0)
    faults.push(`lost its name, and leaves ${kept} sats with the service, ${left.join(', ')} nowhere`);
  return { faults, lost };
}

/** Number of an order's outputs with postage at its receivers: one for each inscription, and one for a premine. */
const postagesOf = ({ request: { count }, terms }: Pick<Order, 'request' | 'terms'>): number =>
  count + (terms.etching?.premine == null ? 0 : 1);

function deliveredFaults(
  { request, quote, amount, state, terms }: Order,
  { delivered, deliveredTo, kept, left, lent, paid, payments }: MoneyFate,
  receivers: readonly string[],
): { faults: string[]; lost: number } {
  const faults: string[] = [];
  const { count } = request;
  if (state !== 'completed') faults.push(`is delivered and ${state}`);
  faults.push(...postageFaults({ request, quote, terms }, delivered));
  if (receivers.length > 1 && deliveredTo.toSorted().join() !== receivers.toSorted().join())
    faults.push(`gives to ${deliveredTo.join(', ')}, and not to each of ${receivers.join(', ')}`);
  if (BigInt(paid) < amount) faults.push(`is delivered for ${paid} of ${amount} sats`);
  // with an inventory sat, the postage comes from the inventory, and the service keeps the customer's postage
  const stocked = terms.inventory === undefined ? 0 : quote.postage * count;
  if (lent !== stocked) faults.push(`takes ${lent} sats of the inventory, and not ${stocked}`);
  const revenue = quote.serviceFee - quote.postage * postagesOf({ request, terms }) + stocked;
  const most = revenue + leastRefund;
  const least = revenue - ((inputVirtualBytes * Number(terms.feeRate)) / 1000) * payments;
  const lost = Math.max(0, kept - most, least - kept) + owedOf(left);
  if (lost > 0)
    faults.push(`leaves ${kept} sats with the service, not ${revenue}, and ${left.join(', ')} nowhere`);
  return { faults, lost };
}

/** Faults of inscriptions' outputs whose value is not their postage. */
function postageFaults(
  { request, quote, terms }: Pick<Order, 'request' | 'quote' | 'terms'>,
  delivered: readonly number[],
): string[] {
  const faults: string[] = [];
  const count = postagesOf({ request, terms });
  if (terms.burn || terms.batchMode === 'shared-output') {
    // a reveal puts all inscriptions into one output
    if (sumOf(delivered) !== count * quote.postage)
      faults.push(`gives ${delivered.join(', ')} sats and not ${count} times ${quote.postage}`);
  } else {
    if (delivered.length !== count)
      faults.push(`has ${delivered.length} outputs of ${count} that it is to have`);
    if (delivered.some((value) => value !== quote.postage))
      faults.push(`delivers ${delivered.join(', ')} sats and not ${quote.postage}`);
  }
  return faults;
}

function refundedFaults({ kept, left, lent, paid, refunded, fees }: MoneyFate): {
  faults: string[];
  lost: number;
} {
  // `kept` is negative if the operator paid for the return of parents
  const lost = Math.max(0, kept) + owedOf(left);
  const faults =
    lost === 0
      ? []
      : [`is not delivered, and ${kept} sats stay with the service, ${left.join(', ')} nowhere`];
  if (lent !== 0) faults.push(`is not delivered, and takes ${lent} sats of the inventory`);
  if (refunded + fees + kept + sumOf(left) !== paid)
    faults.push(`was paid ${paid}, and ${refunded} came back for ${fees}`);
  return { faults, lost };
}

/** Sats of unspent payments that are large enough for a refund. */
function owedOf(left: readonly number[]): number {
  const owed = sumOf(left.filter((value) => value > worthless));
  return owed < leastRefund ? 0 : owed;
}

/** Differences between the ledger's accounts and the chain. */
function ledgerFaults(balances: ReadonlyMap<LedgerAccount, bigint>, fate: MoneyFate): string[] {
  const held = (...accounts: LedgerAccount[]): number =>
    accounts.reduce((total, account) => total + Number(balances.get(account) ?? 0n), 0);
  const compared = [
    ['outside', held('outside'), fate.refunded - fate.paid],
    ['postage', held('postage'), sumOf(fate.delivered)],
    ['fee', held('fee'), fate.fees],
    ['inventory', held('inventory'), 0 - fate.lent],
    // an excess payment below the fee of its refund stays with the service, and is still owed
    [
      'what we hold',
      held('service', 'referral', 'creator', 'operator', 'owed'),
      fate.kept + sumOf(fate.left),
    ],
  ] as const;
  return compared.flatMap(([what, ledger, there]) =>
    ledger === there ? [] : [`has ${ledger} sats in ${what}, and ${there} on the chain`],
  );
}

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Ids of stored transactions that the service's own money may pay for: returns of an order, and all others. */
async function paidByOperator(pool: pg.Pool, id: string): Promise<NonNullable<MoneyOf['operator']>> {
  const { rows } = await pool.query<{ txid: Buffer; is_its: boolean }>(
    `SELECT txid, kind = 'return' AND order_id = $1 AS is_its FROM service.wallet_transactions
      WHERE kind NOT IN ('commit', 'reveal', 'burn', 'refund')`,
    [id],
  );
  const named = (isIts: boolean) =>
    new Set(rows.filter(({ is_its }) => is_its === isIts).map(({ txid }) => txid.reverse().toString('hex')));
  return { returns: named(true), others: named(false) };
}

/** Selects the scripts that customers were given, for charges or deposits. In hex. */
async function customersAmong(pool: pg.Pool, scripts: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ script: string }>(
    `SELECT encode(script, 'hex') AS script FROM service.orders WHERE script = ANY($1::bytea[])
      UNION SELECT encode(script, 'hex') FROM service.order_parents WHERE script = ANY($1::bytea[])`,
    [scripts.map((script) => Buffer.from(script, 'hex'))],
  );
  return rows.map(({ script }) => script);
}

/** Faults where two stored transactions may both be sent and spend the same money. */
async function rivals(pool: pg.Pool, id: string): Promise<string[]> {
  const outpoints = (await readTransactions(pool, id)).flatMap(({ plan }) =>
    plan.inputs.map(({ outpoint }) => outpoint),
  );
  return outpoints
    .filter((outpoint, place) => outpoints.indexOf(outpoint) !== place)
    .map((outpoint) => `spends ${outpoint} twice`);
}

/** Counts how often the index has each of these contents, compressed or not. */
async function countInscribed(
  pool: pg.Pool,
  contents: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ body: Buffer; count: number; encoding: Buffer | null }>(
    `SELECT c.body, d.content_encoding AS encoding, count(*)::int AS count
       FROM chain.contents AS c JOIN chain.inscriptions AS i USING (content_id)
       LEFT JOIN chain.inscription_details AS d USING (key)
      WHERE c.body = ANY($1::bytea[]) OR d.content_encoding = 'br' GROUP BY 1, 2`,
    [contents.map((content) => Buffer.from(content))],
  );
  const counts = new Map<string, number>();
  for (const { body, count, encoding } of rows) {
    const content = (encoding === null ? body : brotliDecompressSync(body)).toString();
    counts.set(content, (counts.get(content) ?? 0) + count);
  }
  return counts;
}

import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MoveClass, SaleForm } from '#kernel/sales/sale-names.ts';
import { moveClasses, saleForms } from '#kernel/sales/sale-names.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import {
  burnScript,
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import {
  dummySats,
  type LabelledKind,
  type Purse as LabelledPurse,
  labelledKinds,
  moneySats,
  parties,
  purchaseOf,
  type SaleLabel,
  shiftSats,
} from '#test/support/sales/labelled-purchases.ts';
import { alice, bob, carol, listed, platform, postage } from '#test/support/sales/trades.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

/**
 * Number of transactions of each class, shared by its kinds. A wallet signs them, and a real node accepts their blocks.
 */
const ofClass = 200;
const dummy = 600;
const money = 1_000_000;
const price = 50_000;
const single = 0x03;
/** Number of transactions per block. */
const perBlock = 100;

/** Coins of a buyer: three dummies, and a coin that pays the price. */
interface Purse {
  readonly dummies: readonly Coin[];
  readonly money: Coin;
}

/** The expected row of a sale. */
interface Label {
  readonly class: MoveClass;
  readonly form: SaleForm;
  readonly price: number;
  readonly payout: number;
  readonly taker: number;
}

interface Kind {
  readonly make: (items: readonly Coin[], purse: Purse) => RegtestTransaction;
  /** `null` if nothing is sold. */
  readonly label: Label | null;
  /** Number of kinds in its class. */
  readonly kinds: number;
  /** Number of items in one transaction. */
  readonly items?: number;
}

const sold = (form: SaleForm, more: Partial<Label> = {}): Label => ({
  class: 'sale',
  form,
  price,
  payout: price + postage,
  taker: bob,
  ...more,
});

/** Makes a sale after two dummies, like Magic Eden, OKX and ordit. */
function twoDummies(
  item: Coin,
  { dummies, money: coin }: Purse,
  { fee = 0, sighash }: { readonly fee?: number; readonly sighash?: number },
): RegtestTransaction {
  return transaction(
    [...dummies.slice(0, 2), listed(item, sighash), coin],
    [
      { value: 2 * dummy, to: bob },
      { value: postage, to: bob },
      { value: price + postage, to: alice },
      ...(fee > 0 ? [{ value: fee, to: platform }] : []),
      { value: money - price - postage - fee - 1_000, to: bob },
    ],
  );
}

const kinds: Readonly<Record<string, Kind>> = {
  'two dummies': {
    kinds: 5,
    label: sold('two-dummies'),
    make: ([item], purse) => twoDummies(item!, purse, {}),
  },
  'two dummies with a platform fee': {
    kinds: 5,
    label: sold('two-dummies'),
    make: ([item], purse) => twoDummies(item!, purse, { fee: 5_000 }),
  },
  'two dummies, signed with SINGLE': {
    kinds: 5,
    label: sold('two-dummies'),
    make: ([item], purse) => twoDummies(item!, purse, { sighash: single }),
  },
  openordex: {
    // the sats of the item are given away
    kinds: 5,
    label: sold('openordex', { price, payout: price }),
    make: ([item], { dummies, money: coin }) =>
      transaction(
        [dummies[0]!, listed(item!), coin],
        [
          { value: dummy + postage, to: bob },
          { value: price, to: alice },
          { value: money - price - 1_000, to: bob },
        ],
      ),
  },
  'bulk purchase': {
    kinds: 5,
    label: sold('bulk'),
    items: 2,
    make: ([first, second], { dummies, money: coin }) =>
      transaction(
        [...dummies.slice(0, 3), listed(first!), listed(second!), coin],
        [
          { value: 3 * dummy, to: bob },
          { value: postage, to: bob },
          { value: postage, to: bob },
          { value: price + postage, to: alice },
          { value: price + postage, to: alice },
          { value: money - 2 * (price + postage) - 1_000, to: bob },
        ],
      ),
  },
  'offer of ord': {
    kinds: 2,
    label: sold('ord-offer', { class: 'offer', taker: carol }),
    make: ([item], { money: coin }) =>
      transaction(
        [item!, coin],
        [
          { value: postage, to: carol },
          { value: price + postage, to: alice },
          { value: money - price - postage - 1_000, to: bob },
        ],
      ),
  },
  'offer in another layout': {
    kinds: 2,
    label: sold('all-signed', { class: 'offer' }),
    make: ([item], { money: coin }) =>
      transaction(
        [coin, item!],
        [
          { value: price + postage, to: alice },
          { value: money - price - postage, to: bob },
          { value: postage - 1_000, to: bob },
        ],
      ),
  },
  transfer: {
    kinds: 2,
    label: null,
    make: ([item], { dummies }) => transaction([item!, dummies[0]!], [{ value: postage, to: bob }]),
  },
  'deposit with more sats': {
    kinds: 2,
    label: null,
    make: ([item], { money: coin }) =>
      transaction(
        [item!, coin],
        [
          { value: 2 * postage, to: platform },
          { value: money - postage - 1_000, to: alice },
        ],
      ),
  },
  'self-transfer': {
    kinds: 2,
    label: null,
    make: ([item]) => transaction([item!], [{ value: postage - 500, to: alice }]),
  },
  gift: {
    kinds: 1,
    label: null,
    make: ([item]) =>
      transaction(
        [item!],
        [
          { value: 546, to: bob },
          { value: postage - 1_546, to: alice },
        ],
      ),
  },
  'cancelled listing': {
    kinds: 2,
    label: null,
    make: ([item], { money: coin }) =>
      transaction(
        [listed(item!), coin],
        [
          { value: postage, to: alice },
          { value: money - 1_000, to: alice },
        ],
      ),
  },
  burn: {
    kinds: 1,
    label: null,
    make: ([item], { dummies }) =>
      transaction([item!, dummies[0]!], [{ value: postage, outputScript: burnScript }]),
  },
  'into the fee': {
    kinds: 1,
    label: null,
    make: ([item], { money: coin }) => transaction([coin, item!], [{ value: money, to: alice }]),
  },
};

/** Kinds in which the holder pays with her own purse. */
const fromAlice = new Set([
  'transfer',
  'deposit with more sats',
  'cancelled listing',
  'burn',
  'into the fee',
]);

let node: IndexedNode;
beforeAll(async () => {
  node = await startIndexedNode();
  await node.chain.mineEmpty(80);
}, 300_000);
afterAll(() => node.close());

/** Makes inscriptions of one owner, each in a separate output. */
async function inscribedItems(
  count: number,
  of: (nth: number) => Pick<NewOutput, 'to' | 'type'> = () => ({ to: alice }),
): Promise<Coin[]> {
  const coin = await node.chain.coin();
  const scripts = Array.from({ length: count }, (_, nth) =>
    envelopeScript({ body: `item ${coin.txid} ${nth}` }),
  );
  const value = postage + 500;
  const change = coin.value - count * (value + 100) - 10_000;
  const commit = transaction(
    [coin],
    [...scripts.map((script) => ({ value, commit: script })), { value: change, to: coin.owner }],
  );
  const reveals = scripts.map((_, nth) => transaction([commit.coin(nth)], [{ value: postage, ...of(nth) }]));
  await node.chain.mine([commit]);
  await node.chain.mine(reveals);
  return reveals.map((reveal) => reveal.coin(0));
}

async function purses(count: number, owner: number): Promise<Purse[]> {
  const small = await node.chain.split(3 * count, dummy, owner);
  const large = await node.chain.split(count, money, owner);
  await node.chain.mine([small, large]);
  return Array.from({ length: count }, (_, nth) => ({
    dummies: [0, 1, 2].map((at) => small.coin(3 * nth + at)),
    money: large.coin(nth),
  }));
}

/** The height of the last sale. Tests run in any order, on one chain. */
async function lastSale(): Promise<number> {
  const { rows } = await node.database.pool.query<{ height: number }>(
    'SELECT coalesce(max(height), -1) AS height FROM chain.sales',
  );
  return rows[0]!.height;
}

const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

/** The expected rows of a transaction, without its id, in the order of the chain. */
function rowsOf({ label, items = 1 }: Kind): unknown[] {
  if (label === null) return [];
  return Array.from({ length: items }, () => ({
    class: moveClasses[label.class],
    form: saleForms[label.form],
    price: label.price,
    payout: label.payout,
    maker: hexOf(alice),
    taker: hexOf(label.taker),
    bundle: 1,
    wash: false,
  }));
}

test('of a real chain all sales are found, as they were made, and nothing else', async () => {
  const made = new Map<string, RegtestTransaction[]>();
  const before = await lastSale();
  for (const [name, { make, kinds: shared, items = 1 }] of Object.entries(kinds)) {
    const count = ofClass / shared / items;
    const coins = await inscribedItems(count * items);
    const owned = await purses(count, fromAlice.has(name) ? alice : bob);
    const transactions = owned.map((purse, nth) => make(coins.slice(nth * items, (nth + 1) * items), purse));
    for (let at = 0; at < count; at += perBlock) await node.chain.mine(transactions.slice(at, at + perBlock));
    made.set(name, transactions);
    await node.atTip();
  }
  const { rows } = await node.database.pool.query<{ txid: string } & Record<string, unknown>>(
    `SELECT encode(txid, 'hex') AS txid, class, form, price::float8 AS price, gross_payout::float8 AS payout,
       encode(maker, 'hex') AS maker, encode(taker, 'hex') AS taker, bundle, wash
     FROM chain.sales WHERE height > $1 ORDER BY height, tx_index, input, place`,
    [before],
  );
  const found = new Map<string, unknown[]>();
  for (const { txid, ...row } of rows) {
    const shown = Buffer.from(txid, 'hex').reverse().toString('hex');
    found.set(shown, [...(found.get(shown) ?? []), row]);
  }
  for (const [name, transactions] of made) {
    const kind = kinds[name]!;
    const expected = rowsOf(kind);
    const differences = transactions
      .map(({ txid }) => found.get(txid) ?? [])
      .filter((row) => JSON.stringify(row) !== JSON.stringify(expected));
    expect({ name, of: transactions.length, differences: differences.slice(0, 2) }).toEqual({
      name,
      of: ofClass / kind.kinds / (kind.items ?? 1),
      differences: [],
    });
  }
  const all = [...made.values()].flat().map(({ txid }) => txid);
  expect([...found.keys()].filter((txid) => !all.includes(txid))).toEqual([]);
}, 600_000);

/** Mines coins for the payers of these kinds. */
async function labelledPurses(kinds: readonly LabelledKind[]): Promise<Omit<LabelledPurse, 'items'>[]> {
  const coin = await node.chain.coin();
  const values = [dummySats, dummySats, dummySats, shiftSats, moneySats];
  const payments = kinds.flatMap(({ roles, type }) => {
    const owner = roles.payer === 'seller' ? { to: parties.seller, type } : { to: parties[roles.payer] };
    return values.map((value) => ({ value, ...owner }));
  });
  const paid = payments.reduce((sum, { value }) => sum + value, 0);
  const split = transaction([coin], [...payments, { value: coin.value - paid - 100_000, to: coin.owner }]);
  await node.chain.mine([split]);
  return kinds.map((_, nth) => {
    const at = (place: number): Coin => split.coin(values.length * nth + place);
    return { dummies: [at(0), at(1), at(2)], shift: at(3), money: at(4) };
  });
}

/** Mines purchases of all kinds in blocks of a real node. Returns their kinds by transaction id. */
async function minedPurchases(kinds: readonly LabelledKind[]): Promise<Map<string, LabelledKind>> {
  const made = new Map<string, LabelledKind>();
  for (let from = 0; from < kinds.length; from += perBlock) {
    const part = kinds.slice(from, from + perBlock);
    const sold = part.flatMap((kind) => Array.from({ length: kind.items }, () => kind));
    const items = await inscribedItems(sold.length, (nth) => ({ to: parties.seller, type: sold[nth]!.type }));
    const owned = await labelledPurses(part);
    const transactions = part.map((kind, nth) => {
      const first = sold.indexOf(kind);
      return purchaseOf(kind, { ...owned[nth]!, items: items.slice(first, first + kind.items) });
    });
    await node.chain.mine(transactions);
    for (const [nth, { txid }] of transactions.entries()) made.set(txid, part[nth]!);
  }
  await node.atTip();
  return made;
}

/** The rows of purchases, by transaction id. */
async function labelsSaid(): Promise<Map<string, SaleLabel[]>> {
  const { rows } = await node.database.pool.query<
    Omit<SaleLabel, 'class'> & { readonly txid: string; readonly class: number }
  >(
    `SELECT encode(txid, 'hex') AS txid, class, price::float8 AS price, gross_payout::float8 AS payout,
       encode(maker, 'hex') AS maker, encode(taker, 'hex') AS taker, bundle, wash, fee_output AS fee
     FROM chain.sales ORDER BY height, tx_index, input, place`,
  );
  const said = new Map<string, SaleLabel[]>();
  for (const { txid, class: of, ...row } of rows) {
    const shown = Buffer.from(txid, 'hex').reverse().toString('hex');
    const label = { class: of === moveClasses.sale ? ('sale' as const) : ('offer' as const), ...row };
    said.set(shown, [...(said.get(shown) ?? []), label]);
  }
  return said;
}

test('of each signature, address, layout and share of roles, precision and recall are 0.99 or more', async () => {
  const kinds = labelledKinds();
  const made = await minedPurchases(kinds);
  const all = await labelsSaid();
  const counts = { said: 0, labelled: 0, right: 0, unseen: 0, unsold: 0 };
  const wrong: unknown[] = [];
  for (const [txid, { name, label, items }] of made) {
    const said = all.get(txid) ?? [];
    const isSold = label !== null && label !== 'unseen';
    if (!isSold) counts[label === null ? 'unsold' : 'unseen'] += items;
    const expected = isSold ? Array.from({ length: items }, () => label) : [];
    const right = expected.filter((row, nth) => isDeepStrictEqual(said[nth], row)).length;
    counts.said += said.length;
    counts.labelled += expected.length;
    counts.right += right;
    if (right < expected.length || said.length > expected.length) wrong.push({ name, said, expected });
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(counts.right / counts.said).toBeGreaterThanOrEqual(0.99);
  expect(counts.right / counts.labelled).toBeGreaterThanOrEqual(0.99);
  // docs/marketplace.md, "What is not seen" and "What is not a sale"
  expect(counts).toMatchObject({ labelled: expect.toSatisfy((count: number) => count > 1_000) as number });
  expect(Math.min(counts.unseen, counts.unsold)).toBeGreaterThan(200);
}, 900_000);

import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { TxidHex } from '#kernel/primitives/hash.ts';
import {
  addressOf,
  type Coin,
  scriptOf,
  signed,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { utxosOfIndex } from '#test/support/utxos/utxos-of-index.ts';

interface Extracted {
  readonly specialRanges: readonly {
    readonly start: number;
    readonly output: string;
    readonly size: number;
    readonly offset: number;
    readonly satributes: readonly string[];
  }[];
  readonly tx: string;
  readonly leftOut: readonly { readonly output: string; readonly reason: string }[];
}

const noneKnown = 'no spendable output of the address is known to have such special sats';
const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;
const subsidy = 5_000_000_000;
/** Owner of the outputs from which sats are extracted. */
const seller = 21;
const poor = 22;
const inscribing = 23;
const specials = 24;
const commons = 25;
const unpaid = 26;

describe.skipIf(bitcoindForTests() === null)('/satextractor/extract', () => {
  let indexed: IndexedNode;
  let app: App;
  /** Three coins: `front` begins with an uncommon sat, `middle` has such a sat at offset 60,000, `common` has none. */
  let front: Coin;
  let middle: Coin;
  let common: Coin;
  let inscribed: Coin;
  /** The first sats of two blocks. */
  let sats: number[];

  beforeAll(async () => {
    indexed = await startIndexedNode();
    const { chain, bitcoind, database, tracer } = indexed;
    const coinbases = [await chain.coin(), await chain.coin(), await chain.coin()];
    const [first, second, third] = coinbases as [Coin, Coin, Coin];
    const begin = transaction([first], [{ value: 100_000, to: seller }, { value: first.value - 110_000 }]);
    const rest = begin.coin(1);
    const joined = transaction(
      [rest, second],
      [
        { value: rest.value - 60_000 },
        { value: 200_000, to: seller },
        { value: 400_000, to: seller },
        { value: second.value - 560_000 },
      ],
    );
    // the last sat of this output is the first sat of a block
    const before = joined.coin(0);
    const end = transaction(
      [before, third],
      [{ value: before.value - 1_999 }, { value: 2_000, to: poor }, { value: third.value - 20_000 }],
    );
    const inscription = await chain.inscribe({ contentType: 'text/plain', body: 'keep' }, { to: inscribing });
    inscribed = inscription.reveal.coin(0);
    [front, middle, common] = [begin.coin(0), joined.coin(1), joined.coin(2)];
    await chain.mine([begin, joined, end, ...inscription.transactions]);
    await indexed.atTip();
    // the test chain spends coinbases in order, starting with the lowest block
    sats = [subsidy, 2 * subsidy];
    const utxos = utxosOfIndex(database.readers, bitcoind.rpc, tracer);
    app = buildCheckedApp({
      ...readerParts(database.readers),
      node: bitcoind.rpc,
      satTracer: tracer,
      utxos,
    });
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await indexed.close();
  });

  const ask = (payload: Record<string, unknown>) =>
    app.inject({ method: 'POST', url: '/satextractor/extract', payload });
  /** A key that is not a point of the curve, and an address that anybody can spend. */
  const offCurve = 'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3';
  const anchor = 'bcrt1pfeesnyr2tx';
  const valid = {
    scanAddress: addressOf(seller),
    addressToSendSpecialSats: addressOf(specials),
    addressToSendCommonSats: addressOf(commons),
    feePerByte: 3,
    filterSatributes: ['uncommon'],
  };

  test('an output that is inscribed is left out, and it is said why', async () => {
    const answer = await ask({ ...valid, scanAddress: addressOf(inscribing) });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({
      status: 'error',
      error: `${noneKnown}; 1 left out (1: it holds an inscription)`,
    });
    const both = await ask({ ...valid, scanAddress: addressOf(unpaid) });
    expect(both.json()).toEqual({ status: 'error', error: 'the address has no such special sats' });
    expect(outpoint(inscribed)).toMatch(/^[0-9a-f]{64}:0$/u);
  });

  test('without runes indexed each reason is said once, with the number of its outputs', async () => {
    const { pool } = indexed.database;
    const runes = `UPDATE chain.derived_tables SET is_followed = $1 WHERE name = 'runes'`;
    expect((await pool.query(runes, [false])).rowCount).toBe(1);
    const answer = await ask(valid);
    await pool.query(runes, [true]);
    expect(answer.statusCode).toBe(404);
    const { error } = answer.json<{ error: string }>();
    // how many are known depends on which test ran first
    expect(error.startsWith(`${noneKnown}; `)).toBe(true);
    expect(error.slice(noneKnown.length)).toMatch(
      /^; (\d) left out \(\1: it is not proven to hold nothing else, because runes are not indexed, or not for every block yet\)$/u,
    );
  });

  test('common sats that cannot pay the fee are counted in the words of public clients', async () => {
    const answer = await ask({ ...valid, scanAddress: addressOf(poor) });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({
      status: 'error',
      error: expect.stringMatching(
        /^Not enough cardinal spendable funds\.\nAddress has: 2000 sats\nNeeded: \d+ sats$/u,
      ) as string,
    });
    // every sat of an early block is vintage, so without a filter no sat is common
    expect((await ask({ ...valid, filterSatributes: [] })).statusCode).toBe(400);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no address', { scanAddress: undefined }],
    ['an address of another network', { scanAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }],
    ['a text in place of an address', { addressToSendCommonSats: 'nonsense' }],
    ['a number in place of an address', { addressToSendSpecialSats: 1 }],
    ['special sats to a key off the curve', { addressToSendSpecialSats: offCurve }],
    ['common sats to a key off the curve', { addressToSendCommonSats: offCurve }],
    ['special sats to anybody', { addressToSendSpecialSats: anchor }],
    ['common sats to anybody', { addressToSendCommonSats: anchor }],
    ['no fee', { feePerByte: 0 }],
    ['a negative fee', { feePerByte: -1 }],
    ['a fee of a billion', { feePerByte: 1e9 }],
    ['a fee in words', { feePerByte: 'much' }],
    ['an unknown satribute', { filterSatributes: ['shiny'] }],
    ['a satribute without a list', { filterSatributes: ['silkroad'] }],
    ['a text in place of a list', { filterSatributes: 'uncommon' }],
  ])('%s is refused in one sentence', async (_words, wrong) => {
    const answer = await ask({ ...valid, ...wrong });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ status: 'error', error: expect.any(String) as string });
  });

  test('a transaction takes each special sat to the special address', async () => {
    const answer = await ask({ ...valid, feePerByte: '3', walletProvider: 'ignored' });
    expect(answer.statusCode).toBe(200);
    const { specialRanges, tx, leftOut } = answer.json<Extracted>();
    const uncommon = { size: 1, satributes: ['uncommon'] };
    expect(leftOut).toEqual([]);
    expect(specialRanges).toEqual([
      { ...uncommon, start: sats[0], output: outpoint(front), offset: 0 },
      { ...uncommon, start: sats[1], output: outpoint(middle), offset: 60_000 },
    ]);
    const made = Transaction.fromRaw(Buffer.from(tx, 'hex'));
    expect([made.inputsLength, made.outputsLength]).toEqual([2, 4]);
    // an output without special sats is not spent
    expect(made.getInput(0).txid).not.toEqual(Buffer.from(common.txid, 'hex'));

    const { hex, vsize } = signed(tx, [front, middle]);
    const { chain, bitcoind, tracer } = indexed;
    const values = Array.from({ length: made.outputsLength }, (_, index) =>
      Number(made.getOutput(index).amount),
    );
    const fee = front.value + middle.value - values.reduce((sum, value) => sum + value, 0);
    expect(fee).toBeGreaterThanOrEqual(3 * vsize);
    expect(fee).toBeLessThan(3 * (vsize + 5));
    const txid = await bitcoind.rpc.call<TxidHex>('sendrawtransaction', [hex]);
    await chain.mineMempool();
    await indexed.atTip();
    for (let vout = 0; vout < made.outputsLength; vout++) {
      const traced = await tracer.trace({ txid, vout });
      const ranges = traced?.state === 'known' ? traced.ranges : [];
      const found = sats.filter((sat) => ranges.some(({ start, end }) => start <= sat && sat < end));
      const isSpecial = Buffer.from(scriptOf(specials)).equals(made.getOutput(vout).script!);
      expect({ vout, found: found.length }).toEqual({ vout, found: isSpecial ? 1 : 0 });
    }
  });
});

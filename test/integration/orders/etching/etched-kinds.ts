import { expect, test } from 'vitest';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { addressTypes, typedAddress } from '#test/builders/regtest/regtest-address.ts';
import type { EtchingOrders, EtchingShown } from '#test/support/orders/etching-orders.ts';

/** A kind of etching, and its rune in `/rune/<name>`. */
interface Kind {
  readonly type: (typeof addressTypes)[number];
  readonly body: object;
  readonly entry: object;
  /** The premine in `/output`; `null` if there is no premine. */
  readonly premine: string | null;
}

const most = 340282366920938463463374607431768211455n;

const kinds: Readonly<Record<string, Kind>> = {
  'PREMINED•TO•KEYHASH': {
    type: 'p2pkh',
    body: { premine: 21_000_000 },
    entry: { divisibility: 0, symbol: null, turbo: false, terms: null, premine: 21_000_000 },
    premine: '21000000',
  },
  'PREMINED•TO•SCRIPT': {
    type: 'p2sh-p2wpkh',
    body: {
      premine: '3.40282366920938463463374607431768211455',
      divisibility: 38,
      symbol: '🐉',
      turbo: true,
    },
    entry: { divisibility: 38, symbol: '🐉', turbo: true, terms: null },
    premine: String(most),
  },
  'PREMINED•TO•SEGWIT': {
    type: 'p2wpkh',
    // the symbol is an acute accent that combines with the character before it
    body: { premine: '0.1', divisibility: 1, symbol: '\u0301', terms: { amount: 1, cap: 1 }, supply: '1.1' },
    entry: { divisibility: 1, symbol: '\u0301', premine: 1, terms: { amount: 10, cap: 1 } },
    premine: '1',
  },
  'PREMINED•TO•WITNESS': {
    type: 'p2wsh',
    // the symbol is the last code point
    body: {
      premine: 1,
      symbol: '\u{10ffff}',
      divisibility: 0,
      terms: { amount: 5, cap: '18446744073709551616' },
    },
    entry: { divisibility: 0, symbol: '\u{10ffff}', premine: 1 },
    premine: '1',
  },
  'PREMINED•TO•TAPROOT': {
    type: 'p2tr',
    body: {
      premine: 7,
      symbol: '0',
      files: [{ name: 'a.txt', size: 5, dataURL: 'data:text/plain;base64,aGVsbG8=' }],
    },
    entry: { symbol: '0', premine: 7 },
    premine: '7',
  },
  'MINTED•BY•ANYBODY': {
    type: 'p2tr-leaf',
    body: { turbo: true, symbol: '\u200d', terms: { amount: 1, cap: 1, offset: { start: 1 } } },
    entry: { symbol: '\u200d', premine: 0, turbo: true, terms: { amount: 1, cap: 1, offset: [1, null] } },
    premine: null,
  },
};

/** Tests each kind of etching. All kinds are etched at once, because their reveals become valid with one block. */
export function etchedKinds(given: () => EtchingOrders): void {
  const addressOf = (type: Kind['type']): string =>
    scriptToAddress(typedAddress(850, type).script, networks.regtest)!;

  test('premines to each type of address, with all kinds of symbols and decimals, become due with one block', async () => {
    const orders = given();
    const { chain } = orders.service;
    const made = new Map<string, EtchingShown>();
    for (const [rune, { type, body }] of Object.entries(kinds))
      made.set(rune, await orders.order({ rune, receiveAddress: addressOf(type), ...body }));
    for (const each of made.values()) await orders.pay(each);
    await chain.mineMempool();
    for (const { id } of made.values()) await orders.until(id, ({ etchingTx }) => etchingTx !== undefined);
    await chain.mineMempool();
    await chain.mineEmpty(3);
    for (const { id } of made.values()) await orders.untilState(id, 'waiting-reveal');
    await expectTooYoung(orders);
    await chain.mineEmpty(1);
    for (const { id } of made.values()) await orders.revealed(id);
    await chain.mineMempool();
    for (const [rune, { id }] of made) {
      const { etchingTx } = await orders.untilState(id, 'completed');
      const { entry, premine, type } = kinds[rune]!;
      const reveal = etchingTx!.reveal!;
      expect(await orders.runeOf(rune)).toMatchObject({ spaced_rune: rune, etching: reveal, ...entry });
      const held = await outputsOf(orders, addressOf(type), reveal, rune);
      expect([rune, held]).toEqual([rune, premine === null ? [] : [premine]]);
    }
    expect(await orders.differences()).toEqual([]);
  });

  test('a symbol is one character that texts may have', async () => {
    const orders = given();
    for (const symbol of ['e\u0301', '👨‍👩‍👧', '\ud800', 'ab', 7]) {
      const answer = await orders.service.post('/runes/etch', {
        premine: 1,
        symbol,
        receiveAddress: addressOf('p2tr'),
      });
      expect([symbol, answer.status]).toEqual([symbol, 400]);
    }
    const answer = await orders.service.post('/runes/etch', {
      premine: 1,
      symbol: '\u0000',
      receiveAddress: addressOf('p2tr'),
    });
    expect([answer.status, JSON.stringify(await answer.json())]).toEqual([
      400,
      expect.stringContaining('U+0000') as string,
    ]);
  });
}

/**
 * Checks that nodes refuse reveals until the block with the fifth confirmation of their commits. The reveals are signed
 * already.
 */
async function expectTooYoung({ service }: EtchingOrders): Promise<void> {
  const { rows } = await service.database.pool.query<{ bytes: Buffer }>(
    `SELECT t.bytes FROM service.etchings AS e JOIN service.wallet_transactions AS t ON t.txid = e.reveal
      WHERE e.released_at IS NULL AND e.given_up_at IS NULL`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(Object.keys(kinds).length);
  for (const { bytes } of rows) {
    const [tested] = await service.bitcoind.rpc.call<{ allowed: boolean; 'reject-reason'?: string }[]>(
      'testmempoolaccept',
      [[bytes.toString('hex')]],
    );
    expect(tested).toMatchObject({ allowed: false, 'reject-reason': 'non-BIP68-final' });
  }
}

/** Units of a rune in those outputs of a reveal that are at an address. */
async function outputsOf(
  orders: EtchingOrders,
  address: string,
  reveal: string,
  rune: string,
): Promise<string[]> {
  const { rpc } = orders.service.bitcoind;
  const { vout } = await rpc.call<{ vout: { scriptPubKey: { address?: string } }[] }>('getrawtransaction', [
    reveal,
    1,
  ]);
  const units: string[] = [];
  for (const [place, { scriptPubKey }] of vout.entries()) {
    const answer = await fetch(new URL(`/output/${reveal}:${place}`, orders.service.origin), {
      headers: { accept: 'application/json' },
    });
    const text = await answer.text();
    const found = new RegExp(`"${rune}":\\{"amount":(\\d+)`, 'u').exec(text);
    if (found === null) continue;
    expect(scriptPubKey.address).toBe(address);
    units.push(found[1]!);
  }
  return units;
}

import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { type ClientAnswer, type ClientClass, callClient } from '#test/support/orders/call-client.ts';
import { OrderService } from '#test/support/orders/order-service.ts';

interface SpecialRange {
  readonly start: number;
  readonly output: string;
  readonly size: number;
  readonly offset: number;
  readonly satributes: readonly string[];
}
interface Scan {
  readonly result: {
    readonly inscriptions: readonly { readonly output: string; readonly inscriptions: readonly string[] }[];
    readonly ranges: readonly {
      readonly output: string;
      readonly start: number;
      readonly end: number;
      readonly size: number;
      readonly offset: number;
      readonly rarity: string;
    }[];
    readonly specialRanges: readonly SpecialRange[];
  };
}

const seller = 81;
const inscribing = 82;
const specials = 83;
const commons = 84;
const value = 100_000;
/** The first sat of block 1, whose coinbase is the first coin of the chain. */
const uncommonSat = 5_000_000_000;

describe.skipIf(bitcoindForTests() === null)('the classes for sats of the public client, unmodified', () => {
  let service: OrderService;
  /** A coin that begins with an uncommon sat. */
  let coin: Coin;
  let inscribed: Coin;
  let inscriptionId: string;

  beforeAll(async () => {
    service = await OrderService.start({ INDEX_ADDRESSES: 'true' });
    const { chain } = service;
    const first = await chain.coin();
    const begin = transaction([first], [{ value, to: seller }, { value: first.value - value - 10_000 }]);
    const inscription = await chain.inscribe({ contentType: 'text/plain', body: 'keep' }, { to: inscribing });
    [coin, inscribed] = [begin.coin(0), inscription.reveal.coin(0)];
    inscriptionId = `${inscribed.txid}i0`;
    await chain.mine([begin, ...inscription.transactions]);
    await service.eventually(async () => {
      const answer = await service.post('/satextractor/extract', extraction);
      return answer.status === 200;
    });
  }, 180_000);
  afterAll(() => service?.close());

  const call = <Value>(
    name: ClientClass,
    method: string,
    ...parameters: readonly unknown[]
  ): Promise<ClientAnswer<Value>> => callClient<Value>(service.origin, name, method, parameters);
  const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;
  const extraction = {
    scanAddress: addressOf(seller),
    addressToSendSpecialSats: addressOf(specials),
    addressToSendCommonSats: addressOf(commons),
    feePerByte: 3,
    filterSatributes: ['uncommon'],
  };

  test('Satscanner names the satributes that are supported', async () => {
    const { value: supported } = await call<{ result: string[] }>('Satscanner', 'getSupportedSatributes');
    expect(supported?.result).toEqual(expect.arrayContaining(['uncommon', 'vintage']));
  });

  test('Satscanner finds the sats of an address, and the same of its output', async () => {
    const address = addressOf(seller);
    const { value: scan } = await call<Scan>('Satscanner', 'findSpecialRanges', { address });
    const output = outpoint(coin);
    const place = { output, start: uncommonSat, offset: 0 };
    expect(scan?.result.inscriptions).toEqual([]);
    expect(scan?.result.ranges).toEqual([
      { ...place, end: uncommonSat + value, size: value, rarity: 'uncommon' },
    ]);
    const [special] = scan!.result.specialRanges;
    expect(special).toMatchObject({ ...place, size: 1 });
    expect(special?.satributes).toContain('uncommon');
    const utxos = await call<Scan>('Satscanner', 'findSpecialRangesUtxo', { utxos: [output] });
    expect(utxos.value).toEqual(scan);
  });

  test('Satscanner names the inscriptions of outputs', async () => {
    const output = outpoint(inscribed);
    const { value: scan } = await call<Scan>('Satscanner', 'findSpecialRangesUtxo', { utxos: [output] });
    expect(scan?.result.inscriptions).toEqual([{ output, inscriptions: [inscriptionId] }]);
  });

  test('Satextractor gives an unsigned transaction with the special sat in an output of its own', async () => {
    const { value: extracted } = await call<{ specialRanges: SpecialRange[]; tx: string }>(
      'Satextractor',
      'extract',
      extraction,
    );
    expect(extracted?.specialRanges).toEqual([
      { start: uncommonSat, output: outpoint(coin), size: 1, offset: 0, satributes: ['uncommon'] },
    ]);
    const made = Transaction.fromRaw(Buffer.from(extracted!.tx, 'hex'));
    expect([made.inputsLength, made.outputsLength]).toEqual([1, 2]);
    expect(Buffer.from(made.getInput(0).txid!).toString('hex')).toBe(coin.txid);
  });

  test('Mempool lists the unspent outputs of an address, and recommends fees', async () => {
    const utxos = await call('Mempool', 'getAddressUtxo', addressOf(seller));
    expect(utxos.value).toEqual([
      {
        txid: coin.txid,
        vout: 0,
        status: {
          confirmed: true,
          block_height: 231,
          block_hash: expect.stringMatching(/^[0-9a-f]{64}$/u) as string,
          block_time: expect.any(Number) as number,
        },
        value,
      },
    ]);
    const fees = await call<Record<string, number>>('Mempool', 'getFeeEstimation');
    const names = ['fastestFee', 'halfHourFee', 'hourFee', 'economyFee', 'minimumFee'];
    expect(Object.keys(fees.value!)).toEqual(names);
    for (const name of names) expect(fees.value![name]).toBeGreaterThanOrEqual(1);
  });

  test.each<[ClientClass, string, unknown]>([
    ['Satscanner', 'findSpecialRanges', { address: 'nonsense' }],
    ['Satscanner', 'findSpecialRangesUtxo', { utxos: [] }],
    ['Satextractor', 'extract', { ...extraction, feePerByte: 0 }],
    ['Mempool', 'getAddressUtxo', 'nonsense'],
  ])('%s.%s throws its error with status 400', async (name, method, parameter) => {
    const { error } = await call(name, method, parameter);
    expect(error?.status).toBe(400);
  });
});

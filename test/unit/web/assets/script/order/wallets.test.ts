import { describe, expect, test } from 'vitest';
import { argumentsOf, walletCalls } from '#test/support/psbts/wallet-calls.ts';
import { networkProblem, oneAddress, walletsIn } from '#web/assets/script/order/wallets.js';

const two = {
  paymentAddress: 'bcrt1qpay',
  paymentPublicKey: '03aa',
  ordinalAddress: 'bcrt1pord',
  ordinalPublicKey: 'bb',
};
const one = { ...two, paymentAddress: 'bcrt1pord', paymentPublicKey: 'bb' };
const psbt = {
  psbtBase64: 'cHNidP8=',
  psbtHex: '70736274ff',
  ordinalInputIndices: [0],
  paymentInputIndices: [1, 2],
};

/** A page with a wallet. The wallet records its calls, and returns `answer`. */
function pageWith(name: string, answer: unknown) {
  const calls: unknown[][] = [];
  const provider = {
    request: async (method: string, params: unknown) => {
      calls.push([params]);
      return method === 'signPsbt' ? answer : { result: null };
    },
    signPsbt: async (...given: unknown[]) => {
      calls.push(given);
      return answer;
    },
  };
  const page = {
    Xverse: { XverseProviders: { BitcoinProvider: provider } },
    UniSat: { unisat: provider },
    Leather: { LeatherProvider: provider },
    OKX: { okxwallet: { bitcoin: provider } },
  }[name]!;
  return { page, calls };
}

describe('a wallet', () => {
  test.each([
    ['Xverse', "request('signPsbt', params)", { result: { psbt: 'signed' } }, two],
    ['UniSat', 'signPsbt(psbtHex, options)', 'signed', one],
    ['Leather', "request('signPsbt', params)", { result: { hex: 'signed' } }, two],
    ['OKX', 'signPsbt(psbtHex, options)', 'signed', one],
  ])('%s signs in the way that its documents describe', async (name, call, answer, account) => {
    const { page, calls } = pageWith(name, answer);
    const [wallet] = walletsIn(page);
    expect(wallet!.name).toBe(name);
    expect(await wallet!.sign(psbt, account)).toBe('signed');
    const documented = walletCalls.find((each) => each.wallet === name && each.call === call)!;
    const values = { ...account, ...psbt, allInputIndices: [0, 1, 2] };
    const withoutFlags = (given: unknown): unknown =>
      JSON.parse(
        JSON.stringify(given).replaceAll(/,"disableTweakSigner":false|"autoFinalized":(?:true|false),/gu, ''),
      );
    expect(withoutFlags(calls)).toEqual(withoutFlags([argumentsOf(documented, values)]));
  });

  test.each([
    [
      'refusal of sats-connect',
      'Xverse',
      { error: { code: -32000, message: 'User rejected' } },
      /was closed, or you refused/u,
    ],
    [
      'error with a reason',
      'Leather',
      { error: { code: 1, message: 'Invalid PSBT hex' } },
      /Leather says: Invalid PSBT hex\. Nothing was paid/u,
    ],
    ['answer without a PSBT', 'Xverse', { result: {} }, /returned no signed PSBT/u],
    ['answer of nothing', 'UniSat', undefined, /returned no signed PSBT/u],
  ])('that answers with a %s loses nothing', async (_name, name, answer, words) => {
    const [wallet] = walletsIn(pageWith(name, answer).page);
    await expect(wallet!.sign(psbt, two)).rejects.toThrow(words);
  });

  test('that gives no addresses has a message', async () => {
    const [wallet] = walletsIn(pageWith('Xverse', null).page);
    await expect(wallet!.connect()).rejects.toThrow(/did not give an address/u);
  });

  test('of an older version of sats-connect is asked for its accounts in the older way', async () => {
    const asked: string[] = [];
    const listed = [
      { purpose: 'payment', address: two.paymentAddress, publicKey: two.paymentPublicKey },
      { purpose: 'ordinals', address: two.ordinalAddress, publicKey: two.ordinalPublicKey },
    ];
    const request = async (method: string) => {
      asked.push(method);
      return method === 'getAccounts'
        ? { result: listed }
        : { error: { code: -32601, message: 'not found' } };
    };
    const [wallet] = walletsIn({ BitcoinProvider: { request } });
    expect([await wallet!.connect(), asked]).toEqual([two, ['wallet_connect', 'getAccounts']]);
  });

  test('of an old version without a method has a message', async () => {
    const [wallet] = walletsIn({ unisat: {} });
    await expect(wallet!.connect()).rejects.toThrow(/does not offer requestAccounts: update it/u);
  });
});

test('pages without wallets, or with other things under their names, have no wallets', () => {
  for (const page of [{}, { unisat: null, okxwallet: 5, XverseProviders: 'x' }])
    expect(walletsIn(page)).toEqual([]);
});

test('a single address pays, and also has the inscriptions if it is taproot', () => {
  expect(oneAddress('bcrt1pord', 'bb')).toMatchObject({
    ordinalAddress: 'bcrt1pord',
    paymentAddress: 'bcrt1pord',
  });
  expect(oneAddress('bcrt1qpay', '03aa')).not.toHaveProperty('ordinalAddress');
});

test('the message for an address of another network names both networks', () => {
  expect(networkProblem('tb1qexample', 'mainnet')).toMatch(
    /address of testnet3, but this service is on mainnet/u,
  );
  expect(networkProblem('bcrt1qexample', 'regtest')).toBeNull();
  expect(networkProblem('hello', 'mainnet')).toBe('This is not an address of mainnet.');
  expect(networkProblem('', 'mainnet')).toBeNull();
});

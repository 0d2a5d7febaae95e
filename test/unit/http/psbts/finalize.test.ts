import { describe, expect, test } from 'vitest';
import { type PsbtCoin, signInput, unsignedPsbt } from '#test/builders/psbts/signed-psbts.ts';
import { typedAddress } from '#test/builders/regtest/regtest-address.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

const path = '/tokenpay/utils/finalize-psbt';
const coins: readonly PsbtCoin[] = (['p2tr', 'p2wpkh'] as const).map((type, owner) => ({
  owner,
  type,
  value: 20_000n,
  sighash: null,
}));
const drawn = { coins, outputs: [{ script: typedAddress(2, 'p2tr').script, value: 39_000n }], lockTime: 0 };
const signedBy = (...places: readonly number[]): string => {
  const psbt = unsignedPsbt(drawn);
  for (const place of places) signInput(psbt, place, coins[place]!);
  return Buffer.from(psbt.toPSBT()).toString('base64');
};

describe(`POST ${path}`, () => {
  async function ask(payload: string | object): Promise<{ status: number; answer: unknown }> {
    const app = createRoutesApp();
    try {
      const { statusCode, json } = await app.inject({
        method: 'POST',
        url: path,
        headers: { 'content-type': 'application/json' },
        payload,
      });
      return { status: statusCode, answer: json() };
    } finally {
      await app.close();
    }
  }

  test('answers the transaction of a PSBT, or of several of one transaction', async () => {
    const whole = await ask({ psbt: signedBy(0, 1), broadcast: false });
    expect(whole).toMatchObject({
      status: 200,
      answer: { fee: 1000, feeRate: expect.closeTo(6, 0) as number },
    });
    const { hex, txid } = whole.answer as { hex: string; txid: string };
    expect(hex).toMatch(/^02000000000102/u);
    expect(txid).toBe(unsignedPsbt(drawn).id);
    const apart = await ask({ psbt: [signedBy(0), Buffer.from(signedBy(1), 'base64').toString('hex')] });
    expect(apart).toMatchObject({ status: 200, answer: { txid, fee: 1000 } });
  });

  test('names unsigned inputs, and faults of a body', async () => {
    const faults = async (payload: string | object): Promise<unknown> => {
      const { status, answer } = await ask(payload);
      return [status, (answer as { error: { msg: string }[] }).error.map(({ msg }) => msg)];
    };
    expect(await faults({ psbt: signedBy() })).toEqual([
      400,
      [
        expect.stringMatching(/^Input 0 is not signed by bcrt1p\w+\.$/u),
        expect.stringMatching(/^Input 1 is not signed by bcrt1q/u),
      ],
    ]);
    expect(await faults({ psbt: [signedBy(0), signedBy(0)] })).toEqual([
      400,
      [expect.stringMatching(/^Input 1 /u)],
    ]);
    for (const psbt of [undefined, null, '', [], [''], ' '])
      expect(await faults({ psbt })).toEqual([400, ['psbt is required.']]);
    for (const psbt of [5, {}, [5], Array.from({ length: 21 }, () => '00')])
      expect(await faults({ psbt })).toEqual([400, ['psbt must be a text, or a list of at most 20 texts']]);
    expect(await faults('{')).toEqual([400, ['the body is not JSON']]);
  });

  test('accepts a text above a megabyte, and refuses a PSBT above a megabyte', async () => {
    const long = 'ab'.repeat(1_000_001);
    expect(await ask({ psbt: long })).toEqual({
      status: 400,
      answer: {
        error: [{ msg: 'psbt has 2000002 characters, but a PSBT may have at most 1000000 bytes.' }],
      },
    });
    expect(await ask({ psbt: 'ab'.repeat(1_000_000) })).toMatchObject({
      status: 400,
      answer: { error: [{ msg: expect.stringContaining('psbt is not a PSBT') as string }] },
    });
    expect(await ask({ psbt: 'ab'.repeat(2_200_000) })).toMatchObject({
      status: 413,
      answer: { error: [{ msg: 'the body is larger than this path accepts' }] },
    });
  });
});

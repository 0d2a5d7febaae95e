import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { runeFlow } from '#kernel/runes/allocation/rune-flow.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { burnScripts, burnScriptWith } from '#psbts/burning/burn-script.ts';
import { type Burn, bareBurn, burnFrame, planBurn } from '#psbts/burning/plan-burn.ts';
import {
  formOf,
  type InscriptionBurn,
  inscriptionBurnFrame,
  planInscriptionBurn,
} from '#psbts/burning/plan-inscription-burn.ts';
import { CoinSupply } from '#psbts/planning/coin-supply.ts';
import type { PsbtInput, PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { Signer, SignerRole, SignerType } from '#psbts/signers/signer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const scripts = {
  p2tr: Uint8Array.of(0x51, 32, ...new Uint8Array(32).fill(1)),
  p2wpkh: Uint8Array.of(0, 20, ...new Uint8Array(20).fill(2)),
  p2sh: Uint8Array.of(0xa9, 20, ...new Uint8Array(20).fill(3), 0x87),
  p2pkh: Uint8Array.of(0x76, 0xa9, 20, ...new Uint8Array(20).fill(4), 0x88, 0xac),
} as const satisfies Readonly<Record<SignerType, Uint8Array>>;
const types = Object.keys(scripts) as SignerType[];
const signerOf = (role: SignerRole, type: SignerType): Signer => ({
  role,
  type,
  script: scripts[type],
  address: type,
  publicKey: null,
  internalKey: null,
  redeemScript: null,
});
const ordinals: Signer = {
  ...signerOf('ordinals', 'p2tr'),
  script: Uint8Array.of(0x51, 32, ...new Uint8Array(32).fill(9)),
};
let made = 0;
const input = (signer: Signer, value: number | bigint): PsbtInput => ({
  txid: trustedTxid(Buffer.alloc(32, ++made % 251)),
  vout: made,
  value: BigInt(value),
  signer,
  blockHash: null,
});
const rune = { id: { block: smallU128(840_000), tx: 1 }, amount: smallU128(50) };

const free = (coins: readonly PsbtInput[]): CoinSupply<PsbtInput> =>
  new CoinSupply(coins, async (asked) => asked.map(() => ({ kind: 'free' })));

const shown = ({ outputs }: PsbtPlan): string[] => outputs.map(({ purpose, value }) => `${purpose} ${value}`);
const isOrdinals = (script: Uint8Array): boolean => Buffer.compare(script, ordinals.script) === 0;

/** Checks the fee rate of a plan, and that all runes return. */
function expectSound(plan: PsbtPlan, feeRate: bigint, runes: InscriptionBurn['runes']): void {
  expect(plan.fee).toBeGreaterThanOrEqual(feeOf(plan.weight, feeRate));
  const { given, burned } = runeFlow(plan.outputs, runes);
  expect(burned).toEqual([]);
  for (const { output } of given) expect(isOrdinals(plan.outputs[output]!.script)).toBe(true);
}

describe('burns of BRC-20', () => {
  const burnOf = (value: number, given: Partial<Burn> = {}): Burn => ({
    utxo: input(ordinals, value),
    runes: [],
    signers: { ordinals, payment: signerOf('payment', 'p2wpkh') },
    script: burnScripts.BRC20,
    burnAmount: 1_000n,
    changeAmount: 500n,
    ...given,
  });

  test('pay for themselves with everything that the output has beyond burned sats and change', () => {
    const burn = burnOf(10_000);
    const { rest, needed } = bareBurn(burn, 10_000n);
    expect([rest, needed]).toEqual([8_500n, 1_090n]);
    const plan = planBurn(burn, []);
    expect(shown(plan)).toEqual(['burn 1000', 'change 500']);
    expect(plan.fee).toBe(8_500n);
  });

  test('give runes an output of dust at the ordinals address, before the change', () => {
    const plan = planBurn(burnOf(10_000, { runes: [rune] }), []);
    expect(shown(plan)).toEqual(['burn 1000', 'ordinals 330', 'change 500']);
    expectSound(plan, 10_000n, [rune]);
    const payment = { ...ordinals, role: 'payment' } as const;
    const same = planBurn(burnOf(10_000, { runes: [rune], signers: { ordinals, payment } }), []);
    expect(shown(same)).toEqual(['burn 1000', 'change 500']);
  });

  test('take coins if the output is too small, and then the change grows', async () => {
    const burn = burnOf(546);
    expect(bareBurn(burn, 10_000n).rest).toBe(546n - 1_500n);
    const coin = input(burn.signers.payment, 20_000);
    const chosen = await free([coin]).choose(burnFrame(burn, 10_000n));
    if (chosen.kind !== 'chosen') throw new Error(chosen.kind);
    const plan = planBurn(burn, chosen.coins, chosen.change);
    expect(plan.outputs[1]?.value).toBe(20_546n - 1_000n - plan.fee);
    expectSound(plan, 10_000n, []);
  });

  test('any burn with coins pays its rate, and its change is at least the requested one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          type: fc.constantFrom(...types),
          value: fc.integer({ min: 330, max: 20_000 }),
          burnAmount: fc.bigInt({ min: 1n, max: 10_000n }),
          changeAmount: fc.bigInt({ min: 546n, max: 20_000n }),
          feeRate: fc.bigInt({ min: 100n, max: 100_000n }),
          hasRunes: fc.boolean(),
          coins: fc.array(fc.integer({ min: 300, max: 60_000 }), { maxLength: 8 }),
        }),
        async ({ type, value, burnAmount, changeAmount, feeRate, hasRunes, coins }) => {
          const payment = signerOf('payment', type);
          const runes = hasRunes ? [rune] : [];
          const burn = burnOf(value, { burnAmount, changeAmount, runes, signers: { ordinals, payment } });
          const supply = free(coins.map((each) => input(payment, each)));
          const chosen = await supply.choose(burnFrame(burn, feeRate));
          if (chosen.kind !== 'chosen') return;
          const plan = planBurn(burn, chosen.coins, chosen.change);
          expectSound(plan, feeRate, runes);
          expect(plan.fee).toBe(feeOf(plan.weight, feeRate));
          expect(plan.outputs[0]).toMatchObject({ value: burnAmount });
          expect(plan.parts[0]?.[0]).toMatchObject({ input: 0, offset: 0n });
        },
      ),
      { numRuns: propertyRuns(300) },
    );
  });
});

/** Plans a burn with these coins. Returns `null` if they cannot pay for it. */
async function planned(burn: InscriptionBurn, coins: readonly number[]): Promise<PsbtPlan | null> {
  const supply = free(coins.map((value) => input(burn.signers.payment, value)));
  const chosen = await supply.choose(inscriptionBurnFrame(burn));
  if (chosen.kind !== 'chosen') return null;
  const { padding } = formOf(burn);
  const padder = padding === 0n ? null : await supply.at(chosen.coins.length);
  if (padding > 0n && (padder === null || padder.value < padding)) return null;
  return planInscriptionBurn(burn, chosen.coins, padder);
}

describe('burns of one inscribed sat', () => {
  const burnOf = (value: number, offset: number, given: Partial<InscriptionBurn> = {}): InscriptionBurn => ({
    utxo: input(ordinals, value),
    offset: BigInt(offset),
    runes: [],
    signers: { ordinals, payment: signerOf('payment', 'p2wpkh') },
    script: burnScriptWith('gone'),
    feeRate: 10_000n,
    ...given,
  });
  const of = async (burn: InscriptionBurn, ...coins: readonly number[]): Promise<PsbtPlan> => {
    const plan = await planned(burn, coins);
    if (plan === null) throw new Error('the coins do not pay');
    return plan;
  };

  test('return the sats after the sat, and take the fee from coins', async () => {
    const plan = await of(burnOf(10_000, 0), 20_000);
    expect(shown(plan)).toEqual(['burn 1', 'ordinals 9999', `change ${20_000n - plan.fee}`]);
  });

  test('return the sats before it, too', async () => {
    const plan = await of(burnOf(10_000, 4_000), 20_000);
    expect(shown(plan)).toEqual(['ordinals 4000', 'burn 1', 'ordinals 5999', `change ${20_000n - plan.fee}`]);
    expect(shown(await of(burnOf(4_001, 4_000), 20_000)).slice(0, -1)).toEqual(['ordinals 4000', 'burn 1']);
  });

  test('pad the sats after it to dust with sats of the next coin', async () => {
    const plan = await of(burnOf(11, 0), 20_000);
    expect(shown(plan).slice(0, 2)).toEqual(['burn 1', 'ordinals 330']);
    expect(plan.parts[1]).toEqual([
      { input: 0, offset: 1n, size: 10n },
      { input: 1, offset: 0n, size: 320n },
    ]);
  });

  test('pad the sats before it with a coin that goes first and gets its change first', async () => {
    const plan = await of(burnOf(10_000, 100), 20_000, 30_000);
    expect(plan.inputs.map(({ value }) => value)).toEqual([20_000n, 10_000n, 30_000n]);
    expect(shown(plan)).toEqual([
      'change 19770',
      'ordinals 330',
      'burn 1',
      'ordinals 9899',
      `change ${30_000n - plan.fee}`,
    ]);
    // a small coin becomes padding completely
    expect(shown(await of(burnOf(10_000, 100), 500, 30_000)).slice(0, 2)).toEqual(['ordinals 600', 'burn 1']);
    expect(await planned(burnOf(10_000, 100), [30_000])).toBeNull();
  });

  test('move runes to the ordinals address with a runestone if another output is first', async () => {
    const runes = [rune];
    const plan = await of(burnOf(10_000, 100, { runes }), 20_000, 30_000);
    expect(shown(plan).slice(0, 4)).toEqual(['change 19770', 'ordinals 330', 'burn 1', 'burn 0']);
    expectSound(plan, 10_000n, runes);
    // without metadata, the runestone itself burns the sat
    const bare = await of(burnOf(10_000, 100, { runes, script: burnScriptWith('') }), 20_000, 30_000);
    expect(shown(bare).slice(0, 4)).toEqual(['change 19770', 'ordinals 330', 'burn 1', 'ordinals 9899']);
    expectSound(bare, 10_000n, runes);
    // the burned output has no other sat, so an output for the runes is added
    expect(shown(await of(burnOf(1, 0, { runes }), 20_000)).slice(0, 2)).toEqual(['burn 1', 'ordinals 330']);
  });

  test('burn only one sat in every case: all others of the output return, and none becomes fee', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          type: fc.constantFrom(...types),
          value: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000_000 })),
          place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          isNear: fc.boolean(),
          feeRate: fc.bigInt({ min: 100n, max: 100_000n }),
          hasRunes: fc.boolean(),
          metadata: fc.constantFrom('', 'gone'),
          coins: fc.array(fc.integer({ min: 300, max: 60_000 }), { maxLength: 8 }),
        }),
        async ({ type, value, place, isNear, feeRate, hasRunes, metadata, coins }) => {
          const offset = Math.floor(place * (isNear ? Math.min(value, 400) : value));
          const payment = signerOf('payment', type);
          const runes = hasRunes ? [rune] : [];
          const script = burnScriptWith(metadata);
          const burn = burnOf(value, offset, { runes, script, feeRate, signers: { ordinals, payment } });
          const plan = await planned(burn, coins);
          if (plan === null) return;
          expectSound(plan, feeRate, runes);
          const spent = plan.inputs.indexOf(burn.utxo);
          const inscribed = plan.outputs.findIndex(
            ({ purpose, value: sats }) => purpose === 'burn' && sats > 0n,
          );
          expect(plan.parts[inscribed]).toEqual([{ input: spent, offset: BigInt(offset), size: 1n }]);
          expect(plan.feeParts.every((part) => part.input !== spent)).toBe(true);
          for (const [vout, parts] of plan.parts.entries())
            if (vout !== inscribed && parts.some((part) => part.input === spent))
              expect(isOrdinals(plan.outputs[vout]!.script)).toBe(true);
          const data = plan.outputs.filter(({ purpose }) => purpose === 'burn');
          expect(data.length).toBe(metadata !== '' && formOf(burn).needsRunestone ? 2 : 1);
          // the overpaid sats are less than the dust limit of a change output and its fee
          const most = BigInt(dustOf(payment.script)) + feeOf(4 * 43, feeRate);
          expect(plan.fee - feeOf(plan.weight, feeRate)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });
});

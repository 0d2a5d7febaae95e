import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import { RuneModel } from '#test/support/chain/runes/rune-model.ts';
import type {
  PricedWithdrawal,
  WithdrawalBatch,
  WithdrawalCoin,
  WithdrawalLimits,
  WithdrawalPlan,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';

const bytes = (length: number, fill: number): number[] => Array.from({ length }, () => fill);
/** The x coordinate of the generator, which is a valid key. */
const pointX = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');

/** Scripts of receivers, for each type of script that someone can own. */
export const receivers = {
  p2tr: Uint8Array.of(0x51, 32, ...pointX),
  p2wpkh: Uint8Array.of(0x00, 20, ...bytes(20, 1)),
  p2wsh: Uint8Array.of(0x00, 32, ...bytes(32, 2)),
  p2sh: Uint8Array.of(0xa9, 20, ...bytes(20, 3), 0x87),
  p2pkh: Uint8Array.of(0x76, 0xa9, 20, ...bytes(20, 4), 0x88, 0xac),
} as const;

export const changeScript = Uint8Array.of(0x51, 32, ...bytes(32, 5));
const taproot = Uint8Array.of(0x51, 32, ...bytes(32, 6));
const keyHash = Uint8Array.of(0x00, 20, ...bytes(20, 7));

export const limits: WithdrawalLimits = { dataCarrierBytes: 83, inputsMax: 20, weightMax: 400_000 };

/** Ids of runes, near each other and far apart, up to the largest id. */
export const runeIds: readonly RuneId[] = [
  { block: smallU128(840_000), tx: 1 },
  { block: smallU128(840_000), tx: 70_000 },
  { block: smallU128(840_001), tx: 0 },
  { block: asU128(2n ** 64n - 1n), tx: 2 ** 32 - 1 },
];
export const runeId = (nth: number): RuneId => runeIds[nth]!;

export interface CoinParts {
  readonly value?: number;
  readonly owner?: string | null;
  readonly isFee?: boolean;
  /** Amounts, each with the number of its rune. */
  readonly runes?: readonly (readonly [number, number | bigint])[];
}

/** Coins that all have different outpoints. */
export const coinsOf = (all: readonly CoinParts[]): WithdrawalCoin[] =>
  all.map(({ value = 1000, owner = null, isFee = false, runes = [] }, vout) => ({
    txid: trustedTxid(createHash('sha256').update(`coin ${vout}`).digest()),
    vout,
    value: BigInt(value),
    script: isFee ? keyHash : taproot,
    key: { branch: isFee ? 3 : 0, index: vout },
    owner,
    runes: runes.map(([nth, amount]) => ({ id: runeId(nth), amount: asU128(amount) })),
  }));

export const batchOf = (
  withdrawals: readonly PricedWithdrawal[],
  coins: readonly WithdrawalCoin[],
  more: Partial<WithdrawalBatch> = {},
): WithdrawalBatch => ({
  withdrawals,
  coins,
  kept: [],
  replaced: null,
  feeRate: 1000n,
  change: changeScript,
  limits,
  ...more,
});

/**
 * Units that a plan's outputs get, and units that the plan burns. Computed with a second implementation of the rules
 * and a second reader of runestones.
 */
export function modelOf({ inputs, outputs }: WithdrawalPlan): {
  readonly outputs: readonly ReadonlyMap<string, bigint>[];
  readonly burned: bigint;
} {
  const model = new RuneModel(() => 0n);
  const { runes, held } = model.state;
  for (const id of runeIds.map(formatRuneId))
    runes.set(id, { id, name: 0n, etching: {}, premine: 0n, mints: 0n, burned: 0n });
  for (const [place, coin] of inputs.entries()) {
    const amounts = new Map<string, bigint>();
    for (const { id, amount } of coin.runes)
      amounts.set(formatRuneId(id), (amounts.get(formatRuneId(id)) ?? 0n) + BigInt(amount));
    held.set(`in:${place}`, amounts);
  }
  model.apply([
    {
      txid: 'made',
      inputs: inputs.map((_, place) => ({ outpoint: `in:${place}`, pushes: null })),
      scripts: outputs.map(({ script }) => script),
    },
  ]);
  const { state } = model;
  return {
    outputs: outputs.map((_, vout) => withoutZeros(state.held.get(`made:${vout}`) ?? new Map())),
    burned: [...state.runes.values()].reduce((sum, { burned }) => sum + burned, 0n),
  };
}

export const withoutZeros = (all: ReadonlyMap<string, bigint>): Map<string, bigint> =>
  new Map([...all].filter(([, amount]) => amount !== 0n));

const accounts = ['a', 'b', 'c'];
const account = fc.constantFrom(...accounts);
const amount = fc.oneof(
  fc.integer({ min: 1, max: 1000 }).map(BigInt),
  fc.bigInt({ min: 1n, max: 2n ** 64n }),
  // small enough that the sum of 500 amounts is below 2^128
  fc.bigInt({ min: 1n, max: 2n ** 118n }),
);
const sats = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 294, max: 1000 }) },
  fc.integer({ min: 1000, max: 30_000 }),
  fc.integer({ min: 30_000, max: 50_000_000 }),
);
const nthRune = fc.nat({ max: runeIds.length - 1 });
/** A coin with random properties. */
export const coin = fc.record({
  owner: fc.option(account, { freq: 3 }),
  value: sats,
  isFee: fc.boolean(),
  // a coin may name a rune twice; an index never does, but no result depends on that
  runes: fc.array(fc.tuple(nthRune, amount), { maxLength: 4 }),
});
const asked = fc.record({
  account,
  rune: fc.option(nthRune, { freq: 4 }),
  /** Share of the units that are in coins of the account or without an owner, in percent. 0 asks for nothing. */
  part: fc.oneof(fc.constantFrom(0, 100, 101), fc.integer({ min: 1, max: 60 })),
  isUnit: fc.boolean(),
  receiver: fc.constantFrom(...Object.values(receivers), changeScript, Uint8Array.of(0x6a)),
  fee: fc.nat({ max: 3000 }),
});

/** Random wallets and withdrawals. */
export const batches: fc.Arbitrary<WithdrawalBatch> = fc
  .record({
    coins: fc.oneof(
      { weight: 30, arbitrary: fc.array(coin, { maxLength: 12 }) },
      { weight: 1, arbitrary: fc.array(coin, { minLength: 100, maxLength: 500, size: 'max' }) },
    ),
    asked: fc.array(asked, { minLength: 1, maxLength: 8 }),
    feeRate: fc.oneof(fc.integer({ min: 100, max: 3000 }), fc.integer({ min: 3000, max: 500_000 })),
    dataCarrierBytes: fc.constantFrom(0, 20, 40, 60, 83, 100_000),
    inputsMax: fc.constantFrom(1, 3, 20, 500),
    weightMax: fc.constantFrom(700, 2000, 400_000, 400_000),
  })
  .map(({ coins, asked: wanted, feeRate, ...bounds }) => {
    const wallet = coinsOf(coins);
    return batchOf(
      wanted.map((each, nth) => withdrawalOf(each, nth, wallet)),
      wallet,
      { feeRate: BigInt(feeRate), limits: bounds },
    );
  });

/** A withdrawal of a share of the available units. */
function withdrawalOf(
  {
    account: owner,
    rune,
    part,
    isUnit,
    receiver,
    fee,
  }: typeof asked extends fc.Arbitrary<infer T> ? T : never,
  nth: number,
  wallet: readonly WithdrawalCoin[],
): PricedWithdrawal {
  const id = rune === null ? null : runeId(rune);
  const there = unitsOf(
    wallet.filter((each) => each.owner === null || each.owner === owner),
    id,
  );
  const units = isUnit && there > 0n ? 1n : (there * BigInt(part)) / 100n;
  const paid = id === null ? units - BigInt(fee) : 546n;
  return { id: `w${nth}`, account: owner, rune: id, units, sats: paid, script: receiver };
}

/** Sum of a rune's units in coins, or of their sats if there is no rune. */
export function unitsOf(coins: readonly WithdrawalCoin[], rune: RuneId | null): bigint {
  let sum = 0n;
  for (const { value, runes } of coins) {
    if (rune === null) sum += value;
    else
      for (const { id, amount: units } of runes)
        if (formatRuneId(id) === formatRuneId(rune)) sum += BigInt(units);
  }
  return sum;
}

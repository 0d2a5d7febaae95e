import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { asU128, smallU128 } from '#kernel/runes/u128.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import type {
  PricedWithdrawal,
  WithdrawalBatch,
  WithdrawalCoin,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

const withdrawalCount = 500;
const accountCount = 100;
const coinCount = 10_000;
const runeCount = 10;
const times = 5;

/**
 * Processor time of one plan for 500 withdrawals, three of four of which withdraw runes. The plan chooses from 10,000
 * coins of 100 accounts.
 */
export function planFigures(): Figure[] {
  // an OP_RETURN of at most 83 bytes is what nodes before Bitcoin Core 30 relay
  return [
    { name: 'planOf500Ms', value: planMs(100_000, withdrawalCount), unit: 'ms', target: { most: 500 } },
    { name: 'planOf500In83BytesMs', value: planMs(83, 1), unit: 'ms', target: { most: 500 } },
  ];
}

function planMs(dataCarrierBytes: number, least: number): number {
  const batch = batchOf(dataCarrierBytes);
  const measured: number[] = [];
  for (let nth = 0; nth < times; nth++) {
    const before = process.cpuUsage();
    const { plan } = planWithdrawals(batch);
    const { user, system } = process.cpuUsage(before);
    const sent = plan?.outputs.filter(({ kind }) => kind === 'withdrawal').length ?? 0;
    assert(sent >= least, `${sent} withdrawals were planned`);
    measured.push((user + system) / 1000);
  }
  return percentile(measured, 0.5);
}

const runeId = (nth: number): RuneId => ({
  block: smallU128(840_000 + (nth % runeCount)),
  tx: nth % runeCount,
});
const scriptOf = (name: string): Uint8Array =>
  Uint8Array.of(0x00, 20, ...createHash('sha256').update(name).digest().subarray(0, 20));
/** A P2TR script made from a name. Any 32 bytes are the program of a P2TR output. */
const ownScript = (name: string): Uint8Array =>
  Uint8Array.of(0x51, 32, ...createHash('sha256').update(name).digest());

const batchOf = (dataCarrierBytes: number): WithdrawalBatch => ({
  withdrawals: Array.from({ length: withdrawalCount }, (_, nth) => withdrawalOf(nth)),
  coins: Array.from({ length: coinCount }, (_, nth) => coinOf(nth)),
  kept: [],
  replaced: null,
  feeRate: 2000n,
  change: ownScript('change'),
  limits: { dataCarrierBytes, inputsMax: 50, weightMax: 400_000 },
});

function withdrawalOf(nth: number): PricedWithdrawal {
  const shared = { id: `${nth}`, account: `${nth % accountCount}`, script: scriptOf(`receiver ${nth}`) };
  return nth % 4 === 0
    ? { ...shared, rune: null, units: 2000n, sats: 1500n }
    : { ...shared, rune: runeId(Math.floor(nth / accountCount)), units: 15n, sats: 294n };
}

/** A coin for the plan. Half of the coins are fees in sats, and half have a rune. */
function coinOf(nth: number): WithdrawalCoin {
  const isFee = nth % 2 === 0;
  const name = `coin ${nth}`;
  return {
    txid: trustedTxid(createHash('sha256').update(name).digest()),
    vout: 0,
    value: isFee ? 3000n : 546n,
    script: isFee ? scriptOf(name) : ownScript(name),
    key: { branch: isFee ? 3 : 0, index: nth },
    owner: `${Math.floor(nth / 2) % accountCount}`,
    runes: isFee ? [] : [{ id: runeId(Math.floor(nth / 2 / accountCount)), amount: asU128(10) }],
  };
}

import type { BlockStats } from '#http/ord/sources/node-questions.ts';
import type { RawBlock } from '#http/ord/sources/raw-blocks.ts';
import { SpentReader } from '#indexer/parse/spent-outputs.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { asSats, noSats, type Sats } from '#kernel/primitives/sats.ts';

const witnessScale = 4;

/**
 * The figures of a block, from its bytes and the outputs that it spends. As in the node, the coinbase is left out of
 * all figures. `null` if the spent outputs are not available. Throws `spent_outputs_mismatch` if the spent outputs do
 * not belong to the block.
 */
export function blockStats(block: RawBlock, height: Height, network: NetworkName): BlockStats | null {
  const transactions = RawTransactions.ofBlock(block.bytes);
  const { count } = transactions;
  // a block with only a coinbase spends nothing, so its spent outputs are those of one transaction without any
  const spentOutputs = count === 1 ? Buffer.from([1, 0]) : block.spentOutputs;
  if (spentOutputs === null) return null;
  const spent = new SpentReader(spentOutputs);
  if (spent.compactSize() !== count) throw mismatch();
  const fees: number[] = [];
  const rates: { rate: number; weight: number }[] = [];
  let maxTxSize = 0;
  let totalSize = 0;
  let totalWeight = 0;
  for (let place = 0; place < count; place++) {
    const inputValue = spentValue(spent);
    if (place === 0) continue;
    const fee = inputValue - transactions.outputValue(place);
    if (fee < 0) throw mismatch();
    const size = transactions.size(place);
    const weight = transactions.weight(place);
    fees.push(fee);
    rates.push({ rate: Math.floor((fee * witnessScale) / weight), weight });
    maxTxSize = Math.max(maxTxSize, size);
    totalSize += size;
    totalWeight += weight;
  }
  const totalFee = fees.reduce((sum, fee) => sum + fee, 0);
  return {
    averageFee: asSats(fees.length === 0 ? 0 : Math.floor(totalFee / fees.length)),
    averageFeeRate: totalWeight === 0 ? 0 : Math.floor((totalFee * witnessScale) / totalWeight),
    feeratePercentiles: percentiles(rates, totalWeight),
    maxFee: asSats(fees.reduce((max, fee) => Math.max(max, fee), 0)),
    maxFeeRate: rates.reduce((max, { rate }) => Math.max(max, rate), 0),
    maxTxSize,
    medianFee: asSats(median(fees)),
    minFee: asSats(fees.length === 0 ? 0 : fees.reduce((min, fee) => Math.min(min, fee))),
    minFeeRate: rates.length === 0 ? 0 : rates.reduce((min, { rate }) => Math.min(min, rate), Infinity),
    subsidy: nodeSubsidy(height, network),
    totalFee: asSats(totalFee),
    totalSize,
    totalWeight,
  };
}

function mismatch(): AppError {
  return new AppError('spent_outputs_mismatch', 'the spent outputs do not match the block');
}

/** Reads the outputs that the next transaction in `spent` spends, and returns the sum of their values. */
function spentValue(spent: SpentReader): number {
  const inputs = spent.compactSize();
  let sum = 0;
  for (let input = 0; input < inputs && !spent.isBroken; input++) sum += spent.output();
  if (spent.isBroken) throw mismatch();
  return sum;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  const upper = sorted[middle]!;
  return sorted.length % 2 === 1 ? upper : Math.floor((sorted[middle - 1]! + upper) / 2);
}

/** Fee rates at 10, 25, 50, 75 and 90 percent of the weight, in ascending order. */
function percentiles(rates: { rate: number; weight: number }[], totalWeight: number): number[] {
  if (rates.length === 0) return [0, 0, 0, 0, 0];
  const marks = [
    totalWeight / 10,
    totalWeight / 4,
    totalWeight / 2,
    (totalWeight * 3) / 4,
    (totalWeight * 9) / 10,
  ];
  const found: number[] = [];
  let weight = 0;
  const sorted = rates.toSorted((a, b) => a.rate - b.rate || a.weight - b.weight);
  for (const entry of sorted) {
    weight += entry.weight;
    while (found.length < marks.length && weight >= marks[found.length]!) found.push(entry.rate);
  }
  const last = (sorted.at(-1) as { rate: number }).rate;
  while (found.length < marks.length) found.push(last);
  return found;
}

/**
 * The subsidy by the node's rules. On regtest it halves every 150 blocks. ord computes it differently
 * (kernel/primitives/network.ts).
 */
export function nodeSubsidy(height: Height, network: NetworkName): Sats {
  const halvings = Math.floor(height / (network === 'regtest' ? 150 : 210_000));
  return halvings >= 64 ? noSats : asSats(Math.floor(5_000_000_000 / 2 ** halvings));
}

/**
 * The difficulty relative to mainnet's easiest target, with exactly the digits that ord prints. The node computes the
 * difficulty in steps (rpc/blockchain.cpp `GetDifficulty`) and writes 16 digits (univalue `setFloat`). ord reads this
 * number as digits and a power of ten, so the last digit may differ by one (serde_json without `float_roundtrip`).
 */
export function difficultyOf(bits: number): number {
  let shift = bits >>> 24;
  let difficulty = 0x0000ffff / (bits & 0x00ffffff);
  for (; shift < 29; shift++) difficulty *= 256;
  for (; shift > 29; shift--) difficulty /= 256;
  const [mantissa = '', exponent = ''] = difficulty.toExponential(15).split('e');
  const digits = mantissa.replace('.', '').replace(/(?<!0)0+$/u, '');
  const scale = Number(exponent) - (digits.length - 1);
  const power = Number(`1e${Math.abs(scale)}`);
  return scale < 0 ? Number(digits) / power : Number(digits) * power;
}

/** A compact target as 64 hex digits, in display order. */
export function targetHex(bits: number): string {
  const size = bits >>> 24;
  const word = BigInt(bits & 0x007fffff);
  const target = size <= 3 ? word >> BigInt(8 * (3 - size)) : word << BigInt(8 * (size - 3));
  return BigInt.asUintN(256, target).toString(16).padStart(64, '0');
}

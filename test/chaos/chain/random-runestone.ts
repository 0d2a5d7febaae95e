import { asRune } from '#kernel/runes/rune.ts';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import type { Etching } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, maxU128, smallU128, type U128 } from '#kernel/runes/u128.ts';
import type { Random } from '#test/builders/random.ts';

/** The first name of 13 letters. Such names are free on regtest at any height. */
const firstFree = 99_246_114_928_149_462n;
/** Number of names. It is small, so that some names are taken. */
const nameCount = 400;
const edictsMax = 4;

export const randomRuneName = (random: Random): bigint => firstFree + BigInt(random.below(nameCount));

/** Parts of a transaction that a runestone depends on or can name. */
export interface RunestonePlace {
  /** A name that an input commits to; `null` if no input commits to a name. */
  readonly name: bigint | null;
  /** Ids that are probably runes. */
  readonly ids: readonly RuneId[];
  /** Number of outputs of the runestone's transaction, without the runestone's own output. */
  readonly outputs: number;
}

export interface RandomRunestone {
  readonly script: Uint8Array;
  readonly isEtching: boolean;
}

/** A runestone, or sometimes a cenotaph. */
export function randomRunestone(random: Random, { name, ids, outputs }: RunestonePlace): RandomRunestone {
  const isEtching = name !== null || ids.length === 0 || random.unit() < 0.15;
  const id = (): RuneId =>
    ids.length === 0 || random.unit() < 0.1
      ? { block: smallU128(0), tx: 0 }
      : (ids[ids.length - 1 - random.below(Math.min(ids.length, 12))] as RuneId);
  const edicts = Array.from({ length: random.below(edictsMax + 1) }, () => ({
    id: id(),
    amount: amountOf(random),
    // an index one above the last output means all outputs
    output: random.below(outputs + 2),
  }));
  const mint = ids.length > 0 && random.unit() < 0.5 ? id() : null;
  const script = encipher({
    kind: 'runestone',
    edicts,
    etching: isEtching ? etchingOf(random, name) : null,
    mint: mint?.block === 0 ? null : mint,
    pointer: random.unit() < 0.2 ? random.below(outputs + 1) : null,
  });
  if (random.unit() > 0.06) return { script, isEtching };
  // an opcode that is not a push makes a cenotaph
  return { script: Buffer.concat([script, Uint8Array.of(0x6a)]), isEtching };
}

function amountOf(random: Random): U128 {
  const way = random.unit();
  if (way < 0.3) return smallU128(0);
  return way < 0.9 ? smallU128(random.below(2000)) : asU128(maxU128 / BigInt(2 + random.below(9)));
}

function etchingOf(random: Random, name: bigint | null): Etching {
  return {
    divisibility: random.below(39),
    premine: amountOf(random),
    rune: name === null ? null : asRune(name),
    spacers: random.below(200),
    symbol: random.unit() < 0.5 ? null : random.below(0xd800),
    terms: random.unit() < 0.8 ? termsOf(random) : null,
    turbo: random.unit() < 0.5,
  };
}

function termsOf(random: Random): Terms {
  const bound = (most: number): U128 | null => (random.unit() < 0.8 ? null : smallU128(random.below(most)));
  return {
    amount: smallU128(random.below(1000)),
    cap: smallU128(1 + random.below(40)),
    heightStart: bound(400),
    heightEnd: bound(4000),
    offsetStart: bound(4),
    offsetEnd: bound(60),
  };
}

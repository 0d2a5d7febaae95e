import type { RuneId } from '#kernel/runes/rune-id.ts';
import { asU128, smallU128, type U128 } from '#kernel/runes/u128.ts';
import type { Edict, Etching, Runestone } from './artifact.ts';
import { runestoneScript } from './runestone-script.ts';
import { flags, tags } from './tags.ts';
import { writeInteger } from './varint.ts';

/** The script of a runestone in ord's canonical form. Fields have ord's order, and edicts are sorted by id. */
export function encipher({ edicts, etching, mint, pointer }: Runestone): Uint8Array {
  const payload: number[] = [];
  if (etching !== null) writeEtching(payload, etching);
  if (mint !== null) {
    writeField(payload, tags.mint, mint.block);
    writeField(payload, tags.mint, smallU128(mint.tx));
  }
  writeField(payload, tags.pointer, small(pointer));
  if (edicts.length > 0) writeEdicts(payload, edicts);
  return runestoneScript(payload);
}

/** A runestone that only moves runes to outputs. */
export const routeRunestone = ({ edicts, pointer }: Pick<Runestone, 'edicts' | 'pointer'>): Runestone => ({
  kind: 'runestone',
  edicts,
  etching: null,
  mint: null,
  pointer,
});

/** Edicts in the order that a runestone needs. They are sorted by id, and edicts of the same id keep their order. */
export function sortedEdicts(edicts: readonly Edict[]): Edict[] {
  return edicts.toSorted((a, b) => compareIds(a.id, b.id));
}

function compareIds(a: RuneId, b: RuneId): number {
  if (a.block !== b.block) return a.block < b.block ? -1 : 1;
  return a.tx - b.tx;
}

function writeEtching(payload: number[], etching: Etching): void {
  const { terms, turbo } = etching;
  const bits = flags.etching | (terms === null ? 0 : flags.terms) | (turbo ? flags.turbo : 0);
  writeField(payload, tags.flags, smallU128(bits));
  writeField(payload, tags.rune, etching.rune === null ? null : asU128(etching.rune));
  writeField(payload, tags.divisibility, small(etching.divisibility));
  writeField(payload, tags.spacers, small(etching.spacers));
  writeField(payload, tags.symbol, small(etching.symbol));
  writeField(payload, tags.premine, etching.premine);
  if (terms === null) return;
  writeField(payload, tags.amount, terms.amount);
  writeField(payload, tags.cap, terms.cap);
  writeField(payload, tags.heightStart, terms.heightStart);
  writeField(payload, tags.heightEnd, terms.heightEnd);
  writeField(payload, tags.offsetStart, terms.offsetStart);
  writeField(payload, tags.offsetEnd, terms.offsetEnd);
}

const small = (value: number | null): U128 | null => (value === null ? null : smallU128(value));

function writeField(payload: number[], tag: number, value: U128 | null): void {
  if (value === null) return;
  writeInteger(payload, smallU128(tag));
  writeInteger(payload, value);
}

function writeEdicts(payload: number[], edicts: readonly Edict[]): void {
  writeInteger(payload, smallU128(tags.body));
  let before: RuneId = { block: smallU128(0), tx: 0 };
  for (const { id, amount, output } of sortedEdicts(edicts)) {
    const blockStep = BigInt(id.block) - BigInt(before.block);
    const txStep = blockStep === 0n ? id.tx - before.tx : id.tx;
    for (const integer of [asU128(blockStep), smallU128(txStep), amount, smallU128(output)])
      writeInteger(payload, integer);
    before = id;
  }
}

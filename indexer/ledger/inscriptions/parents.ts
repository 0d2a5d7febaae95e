import { fieldKinds } from '#indexer/parse/block-columns.ts';
import { withRoom } from '#kernel/growable.ts';
import type { BlockPass } from './block-pass.ts';

const idLength = 36;

/** Row of the field with an envelope's claimed parents. -1: the envelope claims no parent. */
export function claimedParents(columns: BlockPass['columns'], envelope: number): number {
  const end = columns.envelopeFirstField[envelope + 1]!;
  for (let field = columns.envelopeFirstField[envelope]!; field < end; field++) {
    if (columns.fieldKind[field] === fieldKinds.claimedParents) return field;
  }
  return -1;
}

/**
 * For the envelopes [first, end): keeps those claimed parents that are present in the transaction, held by an input or
 * new. Keeps their order and drops repeats (ord inscription_updater.rs).
 */
export function findCandidates(pass: BlockPass, first: number, end: number): void {
  let present: Map<string, number> | null = null;
  for (let envelope = first; envelope < end; envelope++) {
    const field = claimedParents(pass.columns, envelope);
    if (field < 0) continue;
    present ??= presentInscriptions(pass);
    keepPresent(pass, envelope, field, present);
  }
}

/** The floating inscriptions, by id. */
function presentInscriptions(pass: BlockPass): Map<string, number> {
  const { floating } = pass;
  const present = new Map<string, number>();
  for (let at = 0; at < floating.count; at++) {
    const source = floating.source[at]!;
    present.set(pass.idText(source), source);
  }
  return present;
}

function keepPresent(pass: BlockPass, envelope: number, field: number, present: Map<string, number>): void {
  const { arena, fieldRange } = pass.columns;
  const start = fieldRange[field * 2]!;
  const end = start + fieldRange[field * 2 + 1]!;
  const bytes = Buffer.from(arena.buffer, arena.byteOffset, arena.byteLength);
  const kept = new Set<number>();
  for (let at = start; at < end; at += idLength) {
    const source = present.get(bytes.toString('latin1', at, at + idLength));
    if (source !== undefined) kept.add(source);
  }
  pass.firstCandidate[envelope] = pass.candidates;
  pass.candidateCount[envelope] = kept.size;
  pass.candidate = withRoom(pass.candidate, pass.candidates + kept.size);
  for (const source of kept) pass.candidate[pass.candidates++] = source;
}

/**
 * Sets the parents of the inscription that is being written: inscriptions that are present in its transaction and
 * already written. A parent that is written later is ignored, and no inscription is its own parent.
 */
export function writeParents(pass: BlockPass, envelope: number): void {
  const first = pass.firstCandidate[envelope]!;
  const end = first + pass.candidateCount[envelope]!;
  for (let at = first; at < end; at++) {
    const source = pass.candidate[at]!;
    if (pass.hasKey(source)) pass.inscriptions.addParent(pass.keyOf(source));
  }
}

import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { AppliedBlock, EventKind } from './event-kind.ts';

/** The events of a block of one kind, for consumers. */
export interface KindEvents {
  readonly kind: EventKind;
  readonly count: number;
  /** sha256 of the canonical text. Null: the block is not in the chain of hashes. */
  readonly sha256: Buffer | null;
  /** The height at which the kind's chain of hashes begins. */
  readonly firstHeight: Height;
  /** The canonical text. Null if it is not kept. */
  readonly text: Buffer | null;
}

/** The events of a block, of every kind that applies to it. */
export interface BlockEvents {
  readonly ref: BlockRef;
  readonly kinds: readonly KindEvents[];
}

/**
 * Writes the texts of a block that are hashed or kept, one per kind. Pure except for `out`.
 *
 * @param isKept true if the block is one of the newest, whose texts are stored
 */
export function writeBlockEvents(
  out: EventTextWriter,
  kinds: readonly EventKind[],
  network: NetworkParameters,
  applied: AppliedBlock,
  isKept: boolean,
): BlockEvents {
  const written = kinds.map((kind) => writeKind(out, kind, network, applied, isKept));
  return { ref: applied.block.ref, kinds: written.filter((events) => events !== null) };
}

function writeKind(
  out: EventTextWriter,
  kind: EventKind,
  network: NetworkParameters,
  applied: AppliedBlock,
  isKept: boolean,
): KindEvents | null {
  const events = kind.ledgerEvents === undefined ? applied.eventsOfTables(kind) : kind.ledgerEvents(applied);
  if (events === null) return null;
  const { ref } = applied.block;
  const { count, isKnown } = events;
  const firstHeight = kind.firstHeight(network);
  const isHashed = isKnown && ref.height >= firstHeight;
  if (!isHashed && !isKept) return { kind, count, sha256: null, firstHeight, text: null };
  out.begin(kind, network.name, ref, isKept);
  events.write(out);
  const { sha256, text } = out.finish();
  return { kind, count, sha256: isHashed ? sha256 : null, firstHeight, text };
}

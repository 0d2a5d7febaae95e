import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { BlockEventText } from './stored-event-kind.ts';

export interface TextBlock {
  readonly height: Height;
  readonly hash: BlockHash;
  readonly is_known: boolean;
}

/** The functions and the identity that define the texts of an event kind. */
export interface TextForm<Row> {
  readonly identity: EventKindIdentity;
  readonly network: NetworkName;
  /** Whether to keep the texts, and not only their hashes. */
  readonly keep: boolean;
  readonly writeLine: (out: EventTextWriter, row: Row) => void;
}

/** Writes the texts of blocks from the rows of their events. Both lists must ascend by height. */
export function writeTexts<Row extends { readonly height: Height }>(
  blocks: readonly TextBlock[],
  events: readonly Row[],
  { identity, network, keep, writeLine }: TextForm<Row>,
): BlockEventText[] {
  // no limit, because callers receive all texts, and the rows take more memory
  const out = new EventTextWriter(Number.POSITIVE_INFINITY);
  let at = 0;
  return blocks.map(({ height, hash, is_known: isKnown }) => {
    out.begin(identity, network, { height, hash }, keep);
    const first = at;
    for (let row = events[at]; row !== undefined && row.height === height; row = events[++at])
      writeLine(out, row);
    return {
      ref: { height, hash: asBlockHash(Uint8Array.from(hash)) },
      isKnown,
      count: isKnown ? at - first : null,
      ...out.finish(),
    };
  });
}

import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import type { RuneEvent } from '#indexer/ledger/runes/apply-runes.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import {
  type LineRuneId,
  writeBurned,
  writeEtched,
  writeMinted,
  writeTransferred,
} from '#kernel/events/rune-lines.ts';
import { unreachable } from '#kernel/unreachable.ts';
import type { EventKind } from './event-kind.ts';

/** The events of runes: what is etched, minted, transferred and burned. The derived table gives those of a block. */
export const runeEvents: EventKind = {
  ...storedRuneKind,
  indexes: ['rune_burns_height'],
};

/**
 * Writes the lines of a block's text (docs/events.md) from the ledger's result. chain/events/rune-texts.queries.ts
 * makes the same lines from the tables.
 */
export function writeRuneLines(
  out: EventTextWriter,
  events: readonly RuneEvent[],
  idOf: (key: number) => LineRuneId,
): void {
  for (const event of events) {
    switch (event.kind) {
      case 'etched':
        writeEtched(out, event.txid, event.entry);
        break;
      case 'minted':
        writeMinted(out, event.txid, idOf(event.key), event.amount);
        break;
      case 'transferred':
        writeTransferred(out, event, idOf(event.key), event.amount);
        break;
      case 'burned':
        writeBurned(out, event.txid, idOf(event.key), event.amount);
        break;
      default:
        unreachable(event);
    }
  }
}

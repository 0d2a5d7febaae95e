import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import type { RuneChanges } from '#indexer/ledger/runes/rune-changes.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import {
  type LineRuneId,
  writeBurned,
  writeEtched,
  writeMinted,
  writeTransferred,
} from '#kernel/events/rune-lines.ts';
import type { EventKind } from './event-kind.ts';

/** The events of runes: etchings, mints, transfers and burns. The derived table provides the events of a block. */
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
  changes: RuneChanges,
  idOf: (key: number) => LineRuneId,
): void {
  changes.visit({
    etched: (entry) => writeEtched(out, entry.etching, entry),
    minted: ({ key, amount }, txids, txidAt) => writeMinted(out, txids, txidAt, idOf(key), amount),
    burned: ({ txid, key, amount }) => writeBurned(out, txid, idOf(key), amount),
    transferred: (outputs, row) => {
      const place = { txids: outputs.bytes, txidAt: outputs.txidAt(row), vout: outputs.voutOf(row) };
      const first = outputs.firstOf(row);
      const end = first + outputs.countOf(row);
      for (let balance = first; balance < end; balance++)
        writeTransferred(out, place, idOf(outputs.keyOf(balance)), outputs.amountOf(balance));
    },
  });
}

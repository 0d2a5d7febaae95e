import { strict as assert } from 'node:assert';
import { checkedEventKinds } from '#kernel/events/event-kind.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { EventKind } from '../events/event-kind.ts';
import { inscriptionEvents } from '../events/inscription-events.ts';
import type { DerivedTable } from './derived-table.ts';
import { derivedTables } from './derived-tables.ts';

/** All kinds of events: inscriptions, and the kinds that these derived tables name. */
export function eventKindsOf(tables: readonly DerivedTable[]): readonly EventKind[] {
  return checkedEventKinds([inscriptionEvents, ...tables.flatMap(kindOf)]);
}

function kindOf({ name, eventKind, firstHeight }: DerivedTable): readonly EventKind[] {
  if (eventKind === undefined) return [];
  assert(eventKind.ledgerEvents === undefined, `the rows of ${name} give its events`);
  // the chain of hashes of a kind begins with the first block that has rows
  for (const network of Object.values(networks)) {
    assert(eventKind.firstHeight(network) === firstHeight(network), `the first height of ${name}`);
  }
  return [eventKind];
}

/** All kinds of events. A derived table adds a kind by naming it. */
export const eventKinds: readonly EventKind[] = eventKindsOf(derivedTables);

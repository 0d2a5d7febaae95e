import type pg from 'pg';

/** An event as received over HTTP, typed as loosely as a consumer reads it. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly height: number;
  readonly blockHash: string;
  readonly cancels?: number;
  readonly events?: number;
  readonly eventsKept?: boolean;
  readonly inscriptionId?: string;
  readonly sequence?: number | null;
  readonly location?: string | null;
  readonly oldLocation?: string | null;
  readonly newLocation?: string | null;
}

export const parseNdjson = (text: string): ReceivedEvent[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReceivedEvent);

/** A program that knows only the events: it follows the location of every inscription, block by block. */
export class EventConsumer {
  readonly places = new Map<string, string | null>();
  /** Rows of the outbox that were applied and not cancelled, with the data to undo them. */
  readonly #applied = new Map<number, { inverse: [string, string | null | undefined][]; height: number }>();

  take(events: readonly ReceivedEvent[]): void {
    for (const event of events) this.#takeOne(event);
  }

  get heights(): number[] {
    return [...this.#applied.values()].map(({ height }) => height);
  }

  #takeOne(event: ReceivedEvent): void {
    const sequence = Number(event.id.split('.')[0]);
    switch (event.type) {
      case 'block':
        this.#applied.set(sequence, { inverse: [], height: event.height });
        return;
      case 'undo': {
        const row = this.#applied.get(event.cancels!);
        if (row === undefined) throw new Error(`${event.id} cancels ${event.cancels}, which is not applied`);
        for (const [id, place] of row.inverse.reverse()) {
          if (place === undefined) this.places.delete(id);
          else this.places.set(id, place);
        }
        this.#applied.delete(event.cancels!);
        return;
      }
      case 'inscription-created':
        if (this.places.has(event.inscriptionId!)) throw new Error(`${event.id}: created twice`);
        this.#move(sequence, event.inscriptionId!, event.location!);
        return;
      case 'inscription-transferred':
        if (this.places.get(event.inscriptionId!) !== event.oldLocation) {
          throw new Error(`${event.id}: was at ${this.places.get(event.inscriptionId!)}`);
        }
        this.#move(sequence, event.inscriptionId!, event.newLocation!);
        return;
      default:
        throw new Error(`${event.id}: ${event.type}`);
    }
  }

  #move(sequence: number, id: string, place: string | null): void {
    const row = this.#applied.get(sequence);
    if (row === undefined) throw new Error(`${sequence}: an event without its block`);
    row.inverse.push([id, this.places.get(id)]);
    this.places.set(id, place);
  }
}

/** The locations of all inscriptions in the tables, written as in events. */
export async function placesOfTables(pool: pg.Pool): Promise<Map<string, string | null>> {
  const { rows } = await pool.query<{
    txid: Buffer;
    index: number;
    place: number | null;
    at: Buffer | null;
    vout: number;
    sat_offset: number;
  }>(
    `SELECT i.txid, i.index, l.place, coalesce(l.txid, i.txid) AS at, l.vout, l.sat_offset
     FROM chain.inscriptions i LEFT JOIN chain.locations l ON l.key = i.key AND l.spent_height IS NULL`,
  );
  const shown = (hash: Buffer): string => Buffer.from(hash).reverse().toString('hex');
  return new Map(
    rows.map(({ txid, index, place, at, vout, sat_offset: offset }) => {
      const satpoint = `${shown(at!)}:${vout}:${offset}`;
      const known = [satpoint, `${'0'.repeat(64)}:4294967295`, 'unbound'];
      return [`${shown(txid)}i${index}`, place === null ? null : (known[place] ?? null)];
    }),
  );
}

import type { ClientBase } from 'pg';
import { charms } from '#kernel/primitives/charm.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** Location of an inscription: an output, lost (the null outpoint) or unbound (in no output). */
export interface Location {
  readonly place: 'output' | 'lost' | 'unbound';
  /** `<txid>:<vout>` as ord writes it. */
  readonly outpoint: string;
  /** `<txid>:<vout>:<offset>` as ord writes it. */
  readonly satpoint: string;
  /**
   * Value and script of the output. `null` if the inscription is in no output. If a script has no address, only its
   * beginning is stored.
   */
  readonly value: Sats | null;
  readonly script: Uint8Array | null;
}

/** The outpoint of lost inscriptions. `unboundOutpoint` is the outpoint of unbound inscriptions. */
export const lostOutpoint = `${'0'.repeat(64)}:4294967295`;
export const unboundOutpoint = `${'0'.repeat(64)}:0`;

interface LocationRow {
  key: InscriptionKey;
  place: number;
  txid: Txid;
  vout: number | null;
  sat_offset: number;
  value: Sats | null;
  script: Buffer | null;
  spent_height: Height | null;
}

/** Current locations of inscriptions, by key. A key is absent if the location is unknown. */
export async function currentLocations(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<Map<InscriptionKey, Location>> {
  const { rows } = await client.query<LocationRow>({
    name: 'locations_by_key',
    text: `SELECT i.key, last.place, coalesce(last.txid, i.txid) AS txid, last.vout, last.sat_offset, last.value,
       last.script, last.spent_height
     FROM unnest($1::integer[]) AS asked(key)
     JOIN chain.inscriptions i ON i.key = asked.key
     CROSS JOIN LATERAL (
       SELECT * FROM chain.locations l WHERE l.key = i.key ORDER BY l.height DESC, l.step DESC LIMIT 1
     ) AS last`,
    values: [keys],
  });
  // leave out locations that a block has spent; if its other data are missing, the new location is unknown
  return new Map(rows.filter((row) => row.spent_height === null).map((row) => [row.key, locationOf(row)]));
}

const places = ['output', 'lost', 'unbound'] as const;

function locationOf({ place, txid, vout, sat_offset: offset, value, script }: LocationRow): Location {
  const kind = places[place] ?? 'output';
  const outpoints = {
    output: `${displayHash(txid)}:${vout ?? 0}`,
    lost: lostOutpoint,
    unbound: unboundOutpoint,
  };
  const outpoint = outpoints[kind];
  return { place: kind, outpoint, satpoint: `${outpoint}:${offset}`, value, script };
}

const opReturn = 0x6a;

/** Charms as ord stores them: the charms of the reveal, plus burned once an OP_RETURN output holds the inscription. */
export function storedCharms(revealed: number, location: Location): number {
  return location.script?.[0] === opReturn ? revealed | charms.burned : revealed;
}

/** Charms as ord's `/inscription` shows them: the stored charms, plus lost if the location is lost. */
export function shownCharms(revealed: number, location: Location): number {
  const stored = storedCharms(revealed, location);
  return location.place === 'lost' ? stored | charms.lost : stored;
}

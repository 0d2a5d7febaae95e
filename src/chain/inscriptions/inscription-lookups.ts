import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { BatchedReads } from '#kernel/concurrency/batched-reads.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import {
  type InscriptionDetail,
  inscriptionDetails,
  inscriptionKeys,
  inscriptionKeysOfNumbers,
} from './inscription.queries.ts';
import { type PropertiesHead, propertiesHeads, shortPropertiesTexts } from './properties.queries.ts';

/** An inscription by its id or its number. */
export type NamedInscription =
  | { readonly kind: 'id'; readonly id: InscriptionId }
  | { readonly kind: 'number'; readonly number: number };

/** An inscription, and the tip at which it was read. */
export interface FoundInscription {
  readonly tip: Tip | null;
  /** The data of the inscription. `null` if it is not indexed. */
  readonly detail: InscriptionDetail | null;
  /** JSON of the inscription's properties. If they are long, only their head. `null` if it has no properties. */
  readonly properties: string | PropertiesHead | null;
}

/**
 * Maximum number of concurrent batches. One batch is read while the previous batch is turned into responses. More
 * batches would only compete for the same cores.
 */
const batches = 2;
/**
 * Maximum number of inscriptions in a batch. Reading a batch takes some ten milliseconds. It has at most some 20 kB per
 * inscription, mostly properties.
 */
const batchSize = 64;

/** Looks up single inscriptions. Look-ups that clients make at the same time share a snapshot (ADR 89). */
export class InscriptionLookups {
  readonly #reads: BatchedReads<NamedInscription, FoundInscription>;

  /** @param pool used for reads only */
  constructor(pool: pg.Pool) {
    this.#reads = new BatchedReads(
      (asked, signal) => withSnapshot(pool, ({ client, tip }) => readTogether(client, tip, asked), signal),
      { batches, questions: batchSize },
    );
  }

  find(asked: NamedInscription, signal: AbortSignal): Promise<FoundInscription> {
    return this.#reads.ask(asked, signal);
  }
}

async function readTogether(
  client: pg.ClientBase,
  tip: Tip | null,
  asked: readonly NamedInscription[],
): Promise<FoundInscription[]> {
  const keys = await keysOf(client, asked);
  const known = keys.filter((key) => key !== null);
  const details = await inscriptionDetails(client, known);
  const heads = await propertiesHeads(client, known);
  const texts = await shortPropertiesTexts(client, [...heads.values()]);
  return keys.map((key) => {
    if (key === null) return { tip, detail: null, properties: null };
    return { tip, detail: details.get(key) ?? null, properties: texts.get(key) ?? heads.get(key) ?? null };
  });
}

/** Keys in the order of the requests. A key is null if the inscription is not indexed. */
async function keysOf(
  client: pg.ClientBase,
  asked: readonly NamedInscription[],
): Promise<(InscriptionKey | null)[]> {
  const ids = asked.flatMap((question) => (question.kind === 'id' ? question.id : []));
  const numbers = asked.flatMap((question) => (question.kind === 'number' ? question.number : []));
  const byId = (ids.length === 0 ? [] : await inscriptionKeys(client, ids)).values();
  const byNumber = (numbers.length === 0 ? [] : await inscriptionKeysOfNumbers(client, numbers)).values();
  return asked.map(({ kind }) => (kind === 'id' ? byId : byNumber).next().value ?? null);
}

import type pg from 'pg';
import { inscriptionSummaries, newestInscriptions } from '#chain/blocks/block.queries.ts';
import { referencesOf } from '#chain/inscriptions/recursion.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { asInscriptionKey, type InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type Media, mediaOf } from '#web/media.ts';

interface Candidate {
  readonly key: InscriptionKey;
  readonly contentId: number | null;
  readonly contentType: string | null;
}

/**
 * Maximum number of inscriptions of each kind, visible kinds first. Without this bound mints of tokens would fill the
 * page.
 */
const shares: Readonly<Record<Media, number>> = {
  image: 5,
  frame: 5,
  video: 1,
  audio: 1,
  font: 0,
  other: 0,
  text: 14,
};
/**
 * Maximum number of shown inscriptions. They fill three rows on a wide screen. The last one is the first indexed
 * inscription.
 */
const shownMax = 15;

/** Number of newest inscriptions that are considered. Their rows are short, and are read once per tip. */
const consideredMax = 20_000;
/**
 * Maximum number of frames that are checked, and of checked bytes of each frame. Together they are 8 MB. A frame that
 * needs inscriptions outside the index would be blank, so it is not shown.
 */
const framesConsideredMax = 1_000;
const frameBytes = 8 * 1024;
/** How many of the newest documents are searched for scripts, once per tip. Each document takes a millisecond. */
const stillConsideredMax = 100;

/**
 * Chooses new inscriptions to show, and returns their keys. The inscriptions are of various kinds, visible kinds are
 * first, and each content appears once.
 */
export function chooseShowcase(newest: readonly Candidate[]): InscriptionKey[] {
  const chosen = new Map<Media, InscriptionKey[]>(Object.keys(shares).map((media) => [media as Media, []]));
  const seen = new Set<number>();
  for (const { key, contentId, contentType } of newest) {
    const media = mediaOf(contentType);
    const keys = chosen.get(media);
    if (keys === undefined || keys.length === shares[media]) continue;
    if (contentId === null || seen.has(contentId)) continue;
    seen.add(contentId);
    keys.push(key);
  }
  const first = asInscriptionKey(0);
  const others = [...chosen.values()].flat().filter((key) => key !== first);
  return newest.length === 0 ? [] : [...others.slice(0, shownMax - 1), first];
}

/** The inscriptions for the first page, selected once per tip. */
export class Showcase {
  readonly #pool: pg.Pool;
  #tip: string | null = null;
  #keys: Promise<InscriptionKey[]> = Promise.resolve([]);

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * The selected keys.
   *
   * @param tip the tip of the page. A selection of the next block is usable, too, because keys that the page's snapshot
   * lacks are not shown.
   */
  async keys(tip: Tip | null): Promise<readonly InscriptionKey[]> {
    const name = tip === null ? null : `${tip.height} ${Buffer.from(tip.hash).toString('hex')}`;
    if (name !== this.#tip) {
      // use a separate connection, because other visitors also wait for the selection, and the connection of the first
      // visitor ends when that visitor leaves
      const keys = withSnapshot(this.#pool, ({ client }) => choose(client), null);
      // after a failure the next request selects again
      keys.catch(() => {
        if (this.#keys === keys) this.#tip = null;
      });
      this.#tip = name;
      this.#keys = keys;
    }
    return this.#keys;
  }
}

async function choose(client: pg.ClientBase): Promise<InscriptionKey[]> {
  const newest = await newestInscriptions(client, consideredMax);
  const frames = newest.flatMap(({ contentId, contentType }) =>
    contentId !== null && mediaOf(contentType) === 'frame' ? [contentId] : [],
  );
  const considered = [...new Set(frames)].slice(0, framesConsideredMax);
  const references = await referencesOf(client, considered, frameBytes);
  const isWhole = (contentId: number): boolean =>
    references.get(contentId)?.every(({ isMissing }) => !isMissing) ?? false;
  const whole = newest.filter(
    ({ contentId, contentType }) =>
      mediaOf(contentType) === 'frame' && contentId !== null && isWhole(contentId),
  );
  const still = await stillOf(client, whole.map(({ key }) => key).slice(0, stillConsideredMax));
  return chooseShowcase(
    newest.filter(({ key, contentType }) => mediaOf(contentType) !== 'frame' || still.has(key)),
  );
}

/**
 * Returns the documents that have no scripts. Scripts do not run in a list, so a document with scripts would show a
 * badge instead of its art.
 */
async function stillOf(
  client: pg.ClientBase,
  keys: readonly InscriptionKey[],
): Promise<ReadonlySet<InscriptionKey>> {
  const summaries = await inscriptionSummaries(client, keys);
  return new Set(summaries.flatMap(({ key, runs }) => (runs === false ? [key] : [])));
}

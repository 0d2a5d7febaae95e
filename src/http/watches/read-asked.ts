import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { refuseFaults } from '#http/orders/refuse-faults.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import type { AskedWatch, KeyWatches } from '#watches/key-watches.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';
import type { SearchCondition, WatchCondition } from '#watches/reading/watch-condition.ts';
import { type AskedCondition, type WatchKind, watchKinds } from '#watches/watch.ts';
import type { SearchSubject } from './search-breadth.ts';

/** A watch that a key asks for. */
export interface CheckedWatch extends AskedWatch {
  /** The search of a saved search. Null for all other watches. */
  readonly subject: SearchSubject | null;
}

type Dependencies = Pick<AppDependencies, 'pool' | 'network'> & { readonly watches: KeyWatches };
type Body = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a watch. Throws `request_invalid`, and `collection_unknown` if no collection has the slug. Throws
 * the errors of paths about sales and runes while this index has no sales or no runes, because the watch would find
 * nothing.
 *
 * @param kind `null` if the body has the kind, which is then not `search`
 */
export async function readAsked(
  kind: WatchKind | null,
  body: object,
  { pool, network, watches }: Dependencies,
  signal: AbortSignal,
): Promise<CheckedWatch> {
  const given = body as Body;
  const ofKind = kind ?? kindOf(given);
  const values = new RequestValues();
  const url = values.text(given['webhookUrl'], 'webhookUrl');
  const problem = url === null ? null : watches.urlProblem(url);
  if (problem !== null) values.fault('webhookUrl', problem);
  const read = readWatchCondition(ofKind, given, network);
  if (read.kind === 'faulty') throw refuseFaults([...read.faults, ...values.faults]);
  if (values.faults.length > 0) throw refuseFaults(values.faults);
  const { asked, condition } = read;
  await requireFindable(pool, condition, signal);
  const subject = condition.kind === 'search' ? subjectOf(asked, condition.search) : null;
  return { kind: ofKind, condition: asked, webhookUrl: url, subject };
}

const otherKinds = watchKinds.filter((kind) => kind !== 'search');

function kindOf({ kind }: Body): WatchKind {
  const known = otherKinds.find((other) => other === kind);
  if (known !== undefined) return known;
  const message =
    kind === undefined
      ? 'kind is required'
      : `kind must be one of ${otherKinds.join(', ')}; POST /searches saves a search`;
  throw new AppError('request_invalid', message, { parameter: 'kind' });
}

/** The condition in the form of a search. A search splits its text itself. */
function subjectOf(asked: AskedCondition, { corpus, match, hash, filter }: SearchCondition): SearchSubject {
  if (hash !== null) return { question: { hash: Buffer.from(hash, 'hex') }, filter };
  const text = asked[corpus === 'metadata' ? 'metadata' : 'text'];
  if (typeof text !== 'string') return { question: null, filter };
  const phrase = new RequestValues().boolean(asked['phrase'], 'phrase');
  return { question: { corpus, text, match, phrase }, filter };
}

async function requireFindable(
  pool: AppDependencies['pool'],
  condition: WatchCondition,
  signal: AbortSignal,
): Promise<void> {
  if (condition.kind !== 'sales' && condition.kind !== 'runes') return;
  await withSnapshot(
    pool,
    async ({ client }) => {
      if (condition.kind === 'runes') return void (await requireRunes(client));
      await requireSales(client);
      const { collection } = condition.sales;
      if (collection !== null && (await findMarketCollection(client, collection)) === null)
        throw new AppError('collection_unknown', 'no collection has this slug', { parameter: 'collection' });
    },
    signal,
  );
}

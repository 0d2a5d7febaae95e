import type { ClientBase } from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Transactions } from '#http/ord/transactions/transactions.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { type Asker, askerWith } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { codeOfPostgresError } from '#kernel/pg/postgres-failure.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { fileMeaning, hashMeanings, transactionMeaning } from './hash-meanings.ts';
import { inscriptionIdMeanings } from './inscription-meanings.ts';
import type { Detail, Meaning } from './meaning.ts';
import { collectionMeanings, runeMeanings, satributeMeanings } from './name-meanings.ts';
import { type Notation, readNotations } from './notations.ts';
import { heightMeanings, inscriptionNumberMeanings, satMeaning } from './number-meanings.ts';

type Dependencies = Pick<AppDependencies, 'pool' | 'network' | 'satributes'>;

export interface ResolveQuestion {
  readonly text: string;
  readonly asker: Asker;
  readonly detail: Detail;
  /** Finds transactions that are in no table. `null` if such transactions are not searched. */
  readonly transactions: Transactions | null;
}

/**
 * Maximum time of a statement, in ms. A statement with an index takes one millisecond. Without the index the statement
 * would read a whole table.
 */
const lookUpMs = 1_000;

/**
 * Everything that a text names here, most certain first (ADR 83). The database is read in one snapshot, by indexes, at
 * most thirteen times. If the database does not have a hash, the node is asked, for some seconds at most.
 */
export async function resolve(
  deps: Dependencies,
  { text, asker, detail, transactions }: ResolveQuestion,
): Promise<Meaning[]> {
  const notations = readNotations(text, deps.network);
  if (notations.length === 0) return [];
  const meanings = await withSnapshot(
    deps.pool,
    async ({ client }) => {
      await client.query(`SET LOCAL statement_timeout = ${lookUpMs}`);
      const found: Meaning[] = [];
      for (const notation of notations) found.push(...(await meaningsOf(deps, notation, { client, detail })));
      return found;
    },
    asker.signal,
  ).catch((error: unknown) => {
    // before the first sync ends, the indexes for short reads are missing, so the text has no meanings
    if (error instanceof Error && codeOfPostgresError(error) === 'postgres_timeout') return [];
    throw error;
  });
  const [notation] = notations;
  if (meanings.length === 0 && notation?.kind === 'hash')
    return [await unindexedHash(notation, transactions, asker)];
  return meanings.toSorted((one, other) => ranks[one.certainty] - ranks[other.certainty]);
}

/**
 * The redirect of the search box for a text that certainly means one thing: an id, an address, a hash, or a notation
 * with its own marks. `null` if the text may also be a word; the results of a search are then shown. If an id is
 * unknown, the target page says so.
 */
export async function typedTarget(
  deps: Dependencies,
  question: Omit<ResolveQuestion, 'detail'>,
): Promise<string | null> {
  const [notation] = readNotations(question.text, deps.network);
  const isNamed = notation?.kind === 'inscription id' || (notation?.kind === 'number' && notation.isMarked);
  if (isNamed) return `/inscription/${question.text.trim().replace('#', '')}`;
  const meanings = await resolve(deps, { ...question, detail: 'name' });
  const [certain, ...others] = meanings.filter(({ certainty }) => certainty === 'certain');
  return certain === undefined || others.length > 0 ? null : certain.path;
}

const ranks: Readonly<Record<Meaning['certainty'], number>> = { certain: 0, likely: 1, possible: 2 };

interface Looking {
  readonly client: ClientBase;
  readonly detail: Detail;
}

async function meaningsOf(deps: Dependencies, notation: Notation, looking: Looking): Promise<Meaning[]> {
  const { client, detail } = looking;
  switch (notation.kind) {
    case 'inscription id':
      return notation.id === null ? [] : inscriptionIdMeanings(client, notation.id, detail);
    case 'hash':
      return hashMeanings(client, notation, detail);
    case 'outpoint':
      return [meaningOfForm('output', notation.text, 'has this notation')];
    case 'satpoint':
      return [meaningOfForm('satpoint', notation.text, 'has this notation')];
    case 'address':
      return [meaningOfForm('address', notation.address, 'of this network')];
    case 'number':
    case 'rune id':
    case 'rune':
    case 'sat':
    case 'name':
      return meaningsOfWord(deps, notation, looking);
    default:
      return unreachable(notation);
  }
}

type Word = Extract<Notation, { kind: 'number' | 'rune id' | 'rune' | 'sat' | 'name' }>;

/** Meanings of a text that may also be a word or a number. */
async function meaningsOfWord(
  deps: Dependencies,
  notation: Word,
  { client, detail }: Looking,
): Promise<Meaning[]> {
  switch (notation.kind) {
    case 'number': {
      const { inscription, height, isMarked } = notation;
      const numbered = await inscriptionNumberMeanings(client, inscription, isMarked, detail);
      return [...numbered, ...(await heightMeanings(client, height))];
    }
    case 'rune id': {
      const { id } = notation;
      return id === null ? [] : runeMeanings(client, { kind: 'id', id }, 'certain', detail);
    }
    case 'rune': {
      const { rune, isSpaced } = notation;
      return runeMeanings(client, { kind: 'rune', rune }, isSpaced ? 'certain' : 'likely', detail);
    }
    case 'sat':
      return notation.sat === null ? [] : [satMeaning(notation.form, notation.sat)];
    case 'name': {
      const collections = await collectionMeanings(client, notation.name, detail);
      return [...satributeMeanings(satributesInForce(deps), notation.name), ...collections];
    }
    default:
      return unreachable(notation);
  }
}

/** The meaning of a notation whose form is certain. The page of the thing says whether the thing exists. */
const meaningOfForm = (kind: 'output' | 'satpoint' | 'address', label: string, why: string): Meaning => ({
  kind,
  label,
  path: `/${kind}/${label}`,
  why,
  facts: [],
  art: null,
  certainty: 'certain',
});

/**
 * How long the node may take to answer, in ms. A person waits for the page, and a page about the hash is useful even
 * without the node's answer.
 */
const nodeWaitMs = 2_000;

/**
 * The meaning of a hash that is in no table. The hash belongs to a transaction of the node or of a block, or to a file.
 */
async function unindexedHash(
  { hex, txid }: Extract<Notation, { kind: 'hash' }>,
  transactions: Transactions | null,
  asker: Asker,
): Promise<Meaning> {
  const nothing = fileMeaning(hex, 'no block, transaction or content with this hash is known here');
  if (transactions === null) return nothing;
  const signal = AbortSignal.any([asker.signal, AbortSignal.timeout(nodeWaitMs)]);
  try {
    const { confirmations } = await transactions.find(txid, askerWith(asker, signal));
    return transactionMeaning(hex, confirmations === 0 ? ['in no block yet'] : []);
  } catch (error) {
    asker.signal.throwIfAborted();
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'no_node')) return nothing;
    if (!signal.aborted && !(error instanceof AppError)) throw error;
    return fileMeaning(
      hex,
      'nothing indexed has this hash, and the node could not be asked for a transaction',
    );
  }
}

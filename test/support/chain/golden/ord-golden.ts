import { createHash } from 'node:crypto';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { exactJson } from '#test/support/exact-json.ts';
import { charmsOfSats, type GoldenChain, type GoldenTip } from './golden-chain.ts';

/** One recorded request with ord's answer. `value` is undefined if ord answered with an error. */
interface Recorded {
  readonly key: string;
  readonly value?: unknown;
}

type Fields = Record<string, unknown>;

/** Functions that return the path of a golden file's request, by its key. */
const urls: Readonly<Record<string, (key: string) => string>> = {
  inscription: (key) => `/inscription/${key}`,
  'inscription-number': (key) => `/inscription/${key}`,
  'inscriptions-block': (key) => `/inscriptions/block/${key}`,
  'r-inscription': (key) => `/r/inscription/${key}`,
  'r-metadata': (key) => `/r/metadata/${key}`,
  'r-children': (key) => `/r/children/${key}`,
  'r-children-inscriptions': (key) => `/r/children/${key.replace('/', '/inscriptions/')}`,
  'r-parents': (key) => `/r/parents/${key}`,
  'r-parents-inscriptions': (key) => `/r/parents/${key.replace('/', '/inscriptions/')}`,
  gallery: (key) => `/gallery/${key.replace('/', '/page/')}`,
  galleries: (key) => `/galleries/${key}`,
  decode: (key) => `/decode/${key}`,
  block: (key) => `/block/${key}`,
  'r-blockinfo': (key) => `/r/blockinfo/${key}`,
  output: (key) => `/output/${key}`,
  'output-empty': (key) => `/output/${key}`,
};

/** Requests that need only the index and the blocks. */
export const indexQuestions = Object.keys(urls).filter((question) => question !== 'output-empty');

export const nullOutpoint = `${'0'.repeat(64)}:4294967295`;

/**
 * ord's answer without the parts that have no source here. At stale tips these are the additions of ord's sat index.
 */
function expectedOf(question: string, value: unknown, { hasSatCharms }: GoldenTip): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.map((item) => expectedOf(question, item, { hasSatCharms } as GoldenTip));
  const fields = { ...(value as Fields) };
  if (!hasSatCharms) return fields;
  if ('sat' in fields) fields['sat'] = null;
  if ('sat_ranges' in fields) {
    fields['sat_ranges'] = null;
    // ord's value is the sum of the ranges
    if (fields['outpoint'] === nullOutpoint) fields['value'] = 0;
  }
  for (const list of ['children', 'parents']) {
    if (question.endsWith('-inscriptions'))
      fields[list] &&= expectedOf('', fields[list], { hasSatCharms } as GoldenTip);
  }
  if (Array.isArray(fields['charms']))
    fields['charms'] = fields['charms'].filter((charm) => !charmsOfSats.has(charm as string));
  return fields;
}

/** Our answer in the recorded form: an id in place of a number, length and hash in place of a body. */
function shownOf(question: string, value: unknown): unknown {
  if (question === 'inscription-number') return (value as Fields)['id'];
  if (question !== 'decode') return value;
  const { inscriptions } = value as { inscriptions: { payload: Fields }[] };
  for (const { payload } of inscriptions) {
    const body = payload['body'] as number[] | null;
    if (body === null) continue;
    const sha256 = createHash('sha256').update(Uint8Array.from(body)).digest('hex');
    payload['body'] = { length: body.length, sha256 };
  }
  return value;
}

export interface Difference {
  readonly key: string;
  readonly status: number;
  readonly expected: unknown;
  readonly given: unknown;
}

/**
 * Whether ord reported an output as spent only because of the recording node's mempool. After a reorganisation this
 * mempool had transactions of the stale branch. All other outputs that are spent and still on the chain are
 * unspendable.
 */
function isSpentByRecordedMempool(
  question: string,
  { spent, indexed, script_pubkey: script }: Fields,
): boolean {
  return (
    question.startsWith('output') && spent === true && indexed === true && !String(script).startsWith('6a')
  );
}

/** Selects which of the recorded requests are sent. */
interface Part {
  readonly step?: number;
  readonly first?: number;
  readonly only?: (line: string) => boolean;
  /** Returns ord's answer to compare with. Default: the recorded answer without the additions of ord's sat index. */
  readonly expected?: (key: string, value: unknown) => unknown;
}

/** Maximum number of differences that are shown. A hundred would only fill the screen. */
const shownMax = 3;

/**
 * Sends an app all recorded requests of a kind, or every `step`-th request from position `first` on. Returns the number
 * of requests, and the answers that differ from ord's. If ord answered with an error, any answer except a server error
 * is accepted.
 */
export async function differences(
  app: App,
  golden: GoldenChain,
  tip: GoldenTip,
  question: string,
  {
    step = 1,
    first = 0,
    only = () => true,
    expected: expectedAt = (_key, value) => expectedOf(question, value, tip),
  }: Part = {},
): Promise<{ asked: number; different: Difference[] }> {
  const lines = golden
    .answerLines(tip, question)
    .filter(only)
    .filter((_, place) => place % step === first);
  const different: Difference[] = [];
  const queue = lines.values();
  const lane = async (): Promise<void> => {
    for (const line of queue) {
      const { key, value } = exactJson(line) as Recorded;
      const answer = await app.inject({
        url: urls[question]!(key),
        headers: { accept: 'application/json' },
      });
      const status = answer.statusCode;
      if (value === undefined) {
        if (status >= 500) different.push({ key, status, expected: 'an error', given: answer.body });
        continue;
      }
      const expected = expectedAt(key, value);
      const given = status === 200 ? shownOf(question, exactJson(answer.body)) : answer.body;
      if (isSpentByRecordedMempool(question, (expected ?? {}) as Fields)) {
        delete (expected as Fields)['spent'];
        delete (given as Fields)['spent'];
      }
      if (!isEqual(expected, given)) different.push({ key, status, expected, given });
    }
  };
  // as many concurrent requests as the pool has connections
  await Promise.all(Array.from({ length: 10 }, lane));
  return { asked: lines.length, different: different.slice(0, shownMax) };
}

/**
 * Deep equality. The order of array elements matters, the order of an object's keys does not. Both objects must have
 * the same keys.
 */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, place) => isEqual(item, (b as unknown[])[place]))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual((a as Fields)[key], (b as Fields)[key]))
  );
}
